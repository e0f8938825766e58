module example.org/wayside/agent

go 1.20
