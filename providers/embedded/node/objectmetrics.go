package main

import (
	"fmt"

	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/tools/clientcmd"
)

func objectMetrics(args []string) int { fmt.Println(args); return 2 }
