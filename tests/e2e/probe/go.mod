module itbc.local/probe

go 1.26
