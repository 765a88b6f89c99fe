module itbc.local/sample

go 1.26
