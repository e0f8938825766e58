package upload

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.org/wayside/agent/spool"
)

var scan = spool.Scan{Parcel: "WS-1001", Status: "stored", At: time.Date(2024, 1, 11, 16, 5, 0, 0, time.UTC)}

func newClient(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &Client{BaseURL: server.URL, Token: "secret", HTTP: server.Client()}
}

func TestSendPostsTheScan(t *testing.T) {
	client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if r.URL.Path != "/parcels/WS-1001/scans" || body["at"] != "2024-01-11T16:05:00Z" {
			t.Errorf("got %s with %v", r.URL.Path, body)
		}
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Error("the token is missing")
		}
	})
	if err := client.Send(context.Background(), scan); err != nil {
		t.Fatal(err)
	}
}

func TestAConflictIsFinal(t *testing.T) {
	client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "already collected", http.StatusConflict)
	})
	if err := client.Send(context.Background(), scan); !errors.Is(err, ErrRejected) {
		t.Fatalf("got %v, want ErrRejected", err)
	}
}

func TestParcelReadsTheHistory(t *testing.T) {
	client := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"id":"WS-1001","status":"stored","history":[{"status":"stored","at":"2024-01-11T16:05:00Z"}]}`))
	})
	parcel, err := client.Parcel(context.Background(), "WS-1001")
	if err != nil {
		t.Fatal(err)
	}
	if len(parcel.History) != 1 || !parcel.History[0].At.Equal(scan.At) {
		t.Fatalf("got %+v", parcel)
	}
}
