// Package main is what the sample's image would be built from; the compiler only copies it.
package main

func main() {}
