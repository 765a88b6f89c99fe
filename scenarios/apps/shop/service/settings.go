package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"
)

// settings reads environment variables and remembers all that is wrong with them.
type settings struct {
	getenv   func(string) string
	problems []string
}

// problem is all that is wrong, each thing once however often it was read.
func (s *settings) problem() error {
	slices.Sort(s.problems)
	var all error
	for _, each := range slices.Compact(s.problems) {
		all = errors.Join(all, errors.New(each))
	}
	return all
}

func (s *settings) wrong(name, value, expected string) {
	s.problems = append(s.problems, fmt.Sprintf("%s is %q: expected %s", name, value, expected))
}

// required gives a variable that must be set.
func (s *settings) required(name string) string {
	value := s.getenv(name)
	if value == "" {
		s.problems = append(s.problems, name+" isn't set")
	}
	return value
}

func (s *settings) text(name, otherwise string) string {
	if value := s.getenv(name); value != "" {
		return value
	}
	return otherwise
}

func (s *settings) duration(name string, otherwise time.Duration) time.Duration {
	value := s.getenv(name)
	if value == "" {
		return otherwise
	}
	duration, err := time.ParseDuration(value)
	if err != nil || duration < 0 {
		s.wrong(name, value, "a duration like 2s")
		return otherwise
	}
	return duration
}

func (s *settings) number(name string, otherwise int) int {
	value := s.getenv(name)
	if value == "" {
		return otherwise
	}
	number, err := strconv.Atoi(value)
	if err != nil || number < 0 {
		s.wrong(name, value, "a whole number")
		return otherwise
	}
	return number
}

func (s *settings) level(name string, otherwise slog.Level) slog.Level {
	value := s.getenv(name)
	if value == "" {
		return otherwise
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(value)); err != nil {
		s.wrong(name, value, "debug, info, warn or error")
		return otherwise
	}
	return level
}
