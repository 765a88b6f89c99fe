module itbc.local/pause

go 1.26
