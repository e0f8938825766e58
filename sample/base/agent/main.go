// Command agent runs on a courier's handheld. Scans are written to a spool on disk and uploaded when there is a
// network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"example.org/wayside/agent/spool"
	"example.org/wayside/agent/upload"
)

const usage = `usage:
  agent [flags] scan PARCEL STATUS   note a scan
  agent [flags] run                  upload scans until interrupted
  agent [flags] status PARCEL        show where a parcel is
`

func main() {
	log.SetFlags(log.LstdFlags | log.LUTC)
	dir := flag.String("spool", "spool", "folder that keeps scans until they are uploaded")
	server := flag.String("server", "https://api.example.org", "base URL of the API")
	every := flag.Duration("every", 30*time.Second, "pause between uploads")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client := &upload.Client{
		BaseURL: *server,
		Token:   os.Getenv("WAYSIDE_TOKEN"),
		HTTP:    &http.Client{Timeout: 10 * time.Second},
	}
	if err := dispatch(ctx, flag.Args(), spool.New(*dir), client, *every); err != nil {
		log.Fatal(err)
	}
}

func dispatch(ctx context.Context, args []string, queue *spool.Spool, client *upload.Client, every time.Duration) error {
	switch {
	case len(args) == 3 && args[0] == "scan":
		return queue.Add(spool.Scan{Parcel: args[1], Status: args[2], At: time.Now().UTC().Truncate(time.Second)})
	case len(args) == 1 && args[0] == "run":
		return run(ctx, queue, client, every)
	case len(args) == 2 && args[0] == "status":
		return printStatus(ctx, os.Stdout, client, args[1])
	}
	flag.Usage()
	return errors.New("unknown command")
}
