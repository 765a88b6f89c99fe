package main

import (
	"bufio"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// A change is one line of the store's journal; without a value it is a deletion.
type change struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
}

type store struct {
	user, password string
	mutex          sync.RWMutex
	values         map[string]json.RawMessage
	journal        *os.File
}

// newStore is a datastore of JSON values under bucket and key. Each change is in its journal before it is answered.
func newStore(s *settings, _ *parts) (http.Handler, error) {
	st := &store{user: s.required("STORE_USER"), password: s.required("STORE_PASSWORD"), values: map[string]json.RawMessage{}}
	if err := st.open(filepath.Join(s.required("DATA_DIR"), "journal")); err != nil {
		return nil, fmt.Errorf("the journal can't be opened: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{bucket}/{key}", st.protected(st.get))
	mux.Handle("PUT /{bucket}/{key}", st.protected(st.put))
	mux.Handle("DELETE /{bucket}/{key}", st.protected(st.remove))
	return mux, nil
}

// open reads the journal of an earlier life, if there is one; a last line cut short by a crash is dropped.
func (s *store) open(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	whole := int64(0)
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
		var each change
		if err := json.Unmarshal(line, &each); err != nil {
			return errors.Join(fmt.Errorf("at byte %d: %w", whole, err), file.Close())
		}
		s.apply(each)
		whole += int64(len(line))
	}
	if err := file.Truncate(whole); err != nil {
		return errors.Join(err, file.Close())
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return errors.Join(err, file.Close())
	}
	s.journal = file
	return nil
}

func (s *store) apply(c change) {
	if c.Value == nil {
		delete(s.values, c.Key)
		return
	}
	s.values[c.Key] = c.Value
}

func (s *store) protected(next endpoint) endpoint {
	return func(r *http.Request) (any, error) {
		user, password, _ := r.BasicAuth()
		known := subtle.ConstantTimeCompare([]byte(user), []byte(s.user))
		if known&subtle.ConstantTimeCompare([]byte(password), []byte(s.password)) != 1 {
			return nil, fail(http.StatusUnauthorized, fmt.Errorf("authentication failed for user %q", user))
		}
		return next(r)
	}
}

func keyOf(r *http.Request) string { return r.PathValue("bucket") + "/" + r.PathValue("key") }

func (s *store) get(r *http.Request) (any, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	value, found := s.values[keyOf(r)]
	if !found {
		return nil, fail(http.StatusNotFound, errors.New("there is nothing under this key"))
	}
	return value, nil
}

func (s *store) put(r *http.Request) (any, error) {
	var value json.RawMessage
	if err := readJSON(r, &value); err != nil {
		return nil, err
	}
	return map[string]bool{"stored": true}, s.write(change{Key: keyOf(r), Value: value})
}

func (s *store) remove(r *http.Request) (any, error) {
	return map[string]bool{"removed": true}, s.write(change{Key: keyOf(r)})
}

func (s *store) write(c change) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, err := s.journal.Write(append(line, '\n')); err != nil {
		return fail(http.StatusInsufficientStorage, fmt.Errorf("the change can't be kept: %w", err))
	}
	s.apply(c)
	return nil
}
