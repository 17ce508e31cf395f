"""`make demo`: three replicas ingest real conversations; one is killed, one sleeps past its lease; SQL checks the end."""
