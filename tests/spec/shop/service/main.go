// Command shop stands for a service; the tests only need that it is there.
package main

func main() {}
