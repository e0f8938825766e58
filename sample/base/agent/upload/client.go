// Package upload talks to the API.
package upload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"example.org/wayside/agent/spool"
)

// ErrRejected says that the server will never take this scan.
var ErrRejected = errors.New("rejected")

// Client is safe for use by several goroutines.
type Client struct {
	BaseURL string
	Token   string
	HTTP    *http.Client
}

// Parcel is what the API tells about a parcel.
type Parcel struct {
	ID      string  `json:"id"`
	Status  string  `json:"status"`
	History []Event `json:"history"`
}

// Event is one step of a parcel's history.
type Event struct {
	Status string    `json:"status"`
	At     time.Time `json:"at"`
}

// Send uploads one scan.
func (c *Client) Send(ctx context.Context, scan spool.Scan) error {
	body, err := json.Marshal(map[string]string{
		"status": scan.Status,
		"at":     scan.At.UTC().Format("2006-01-02T15:04:05Z"),
	})
	if err != nil {
		return err
	}
	target := c.BaseURL + "/parcels/" + url.PathEscape(scan.Parcel) + "/scans"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return check(resp)
}

// Parcel asks for a parcel's status and history.
func (c *Client) Parcel(ctx context.Context, id string) (Parcel, error) {
	target := c.BaseURL + "/parcels/" + url.PathEscape(id)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return Parcel{}, err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Parcel{}, err
	}
	defer resp.Body.Close()
	if err := check(resp); err != nil {
		return Parcel{}, err
	}
	var parcel Parcel
	if err := json.NewDecoder(resp.Body).Decode(&parcel); err != nil {
		return Parcel{}, fmt.Errorf("the answer is not what we expect: %w", err)
	}
	return parcel, nil
}

// check turns an answer that is no success into an error: ErrRejected where asking again cannot help.
func check(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict:
		return fmt.Errorf("%w: %s: %s", ErrRejected, resp.Status, bytes.TrimSpace(text))
	}
	return fmt.Errorf("the server answered %s", resp.Status)
}
