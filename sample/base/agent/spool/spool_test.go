package spool

import (
	"testing"
	"time"
)

func TestScansComeBackAsTheyWereAdded(t *testing.T) {
	queue := New(t.TempDir())
	want := Scan{Parcel: "WS-1001", Status: "in_transit", At: time.Date(2024, 1, 11, 7, 30, 0, 0, time.UTC)}
	if err := queue.Add(want); err != nil {
		t.Fatal(err)
	}
	entries, err := queue.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Scan != want {
		t.Fatalf("got %v, want one entry with %v", entries, want)
	}
	if err := queue.Remove(entries[0].Name); err != nil {
		t.Fatal(err)
	}
	if entries, err := queue.List(); err != nil || len(entries) != 0 {
		t.Fatalf("got %v, %v after the scan was removed", entries, err)
	}
}

func TestAMissingFolderIsAnEmptySpool(t *testing.T) {
	entries, err := New(t.TempDir() + "/none").List()
	if err != nil || len(entries) != 0 {
		t.Fatalf("got %v, %v", entries, err)
	}
}
