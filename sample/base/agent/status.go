package main

import (
	"context"
	"fmt"
	"io"

	"example.org/wayside/agent/upload"
)

// printStatus writes a parcel's status and history to w.
func printStatus(ctx context.Context, w io.Writer, client *upload.Client, id string) error {
	parcel, err := client.Parcel(ctx, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s is %s\n", parcel.ID, parcel.Status)
	for _, event := range parcel.History {
		fmt.Fprintf(w, "  %s  %s\n", event.At.Local().Format("02 Jan 15:04"), event.Status)
	}
	return nil
}
