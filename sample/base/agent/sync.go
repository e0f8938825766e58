package main

import (
	"context"
	"errors"
	"log"
	"time"

	"example.org/wayside/agent/spool"
	"example.org/wayside/agent/upload"
)

// run uploads the spool every so often until ctx is done.
func run(ctx context.Context, queue *spool.Spool, client *upload.Client, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		sent, err := syncOnce(ctx, queue, client)
		if err != nil {
			log.Printf("upload stopped: %v", err)
		}
		if sent > 0 {
			log.Printf("%d scans uploaded", sent)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// syncOnce uploads what is in the spool and returns how many scans the server took. It stops at the first scan
// that could not be delivered. A scan that the server rejects for good is logged and dropped.
func syncOnce(ctx context.Context, queue *spool.Spool, client *upload.Client) (int, error) {
	entries, err := queue.List()
	if err != nil {
		return 0, err
	}
	sent := 0
	for _, entry := range entries {
		err := client.Send(ctx, entry.Scan)
		if errors.Is(err, upload.ErrRejected) {
			log.Printf("dropped the scan of %s as %s: %v", entry.Scan.Parcel, entry.Scan.Status, err)
		} else if err != nil {
			return sent, err
		} else {
			sent++
		}
		if err := queue.Remove(entry.Name); err != nil {
			return sent, err
		}
	}
	return sent, nil
}
