import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { server } from "./server.ts";

const app = new Hono();
app.get("/", (c) => c.text("Your app."));
app.all("/agents/*", (c) => server.fetch(c.req.raw));

serve({ fetch: app.fetch, port: 4200 }, ({ port }) => console.log(`http://127.0.0.1:${port}`));
