// Package spool keeps scans on disk until they are uploaded.
package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Scan is one beep of the handheld.
type Scan struct {
	Parcel string    `json:"parcel"`
	Status string    `json:"status"`
	At     time.Time `json:"at"`
}

// Entry is a scan in the spool.
type Entry struct {
	Name string
	Scan Scan
}

// Spool is a folder of scans, one file each: 1.json, 2.json and so on. One process at a time adds to it.
type Spool struct {
	dir string
}

// New returns the spool in dir, which need not exist yet.
func New(dir string) *Spool {
	return &Spool{dir: dir}
}

// Add writes a scan to the spool. Readers see all of it or nothing.
func (s *Spool) Add(scan Scan) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	number, err := s.nextNumber()
	if err != nil {
		return err
	}
	data, err := json.Marshal(scan)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%d.json", number))
	if err := os.WriteFile(path+".part", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// List returns the scans in the spool.
func (s *Spool) List() ([]Entry, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return nil, err
		}
		var scan Scan
		if err := json.Unmarshal(data, &scan); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		entries = append(entries, Entry{Name: name, Scan: scan})
	}
	return entries, nil
}

// Remove takes a scan out of the spool.
func (s *Spool) Remove(name string) error {
	return os.Remove(filepath.Join(s.dir, name))
}

// names returns the names of the scan files in the order in which the file system lists them.
func (s *Spool) names() ([]string, error) {
	dir, err := os.Open(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(all))
	for _, name := range all {
		if strings.HasSuffix(name, ".json") {
			names = append(names, name)
		}
	}
	return names, nil
}

func (s *Spool) nextNumber() (int, error) {
	names, err := s.names()
	if err != nil {
		return 0, err
	}
	last := 0
	for _, name := range names {
		number, err := strconv.Atoi(strings.TrimSuffix(name, ".json"))
		if err == nil && number > last {
			last = number
		}
	}
	return last + 1, nil
}
