package main

import "itbc/node/internal/edgedelay"

// edgeDelay makes packets between pods late, as ConfigMaps in kube-system say, until it gets SIGTERM or SIGINT.
func edgeDelay(args []string) int {
	return component{
		rights: "may list and watch pods, and list, watch and patch config maps in kube-system",
		run:    edgedelay.Run,
	}.main(args)
}
