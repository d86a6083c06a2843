import { requestListener } from "@loopwright/server/node";
import express from "express";
import { server } from "./server.ts";

const app = express();
app.use("/agents", requestListener(server)); // before `express.json()`: the server reads its bodies itself
app.use(express.json());
app.get("/", (_, response) => void response.send("Your app."));

const http = app.listen(4200, () => console.log(`http://127.0.0.1:${(http.address() as { port: number }).port}`));
