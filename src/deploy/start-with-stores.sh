#!/bin/sh
# The command of docker-compose.yml's service stint: starts the server with the stores that COMPOSE_PROFILES names. docker-compose.yml sets the
# addresses of all stores, since its variables cannot depend on a profile; the settings of a store that does not run are unset here.
set -eu
case ",$COMPOSE_PROFILES," in
*,influxdb,*) ;;
*) unset INFLUX_URL INFLUX_TOKEN_FILE INFLUX_ORG INFLUX_BUCKET ;;
esac
case ",$COMPOSE_PROFILES," in
*,cluster,*) ;;
*,clickhouse,*) unset CLICKHOUSE_CLUSTER ;;
*) unset CLICKHOUSE_URL CLICKHOUSE_USER CLICKHOUSE_PASSWORD_FILE CLICKHOUSE_DATABASE CLICKHOUSE_CLUSTER ;;
esac
exec bun src/main.ts
