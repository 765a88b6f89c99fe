module itbc.local/peer

go 1.26
