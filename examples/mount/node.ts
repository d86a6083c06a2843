import { createServer } from "node:http";
import { requestListener } from "@loopwright/server/node";
import { server } from "./server.ts";

const agents = requestListener(server);

const http = createServer((request, response) => {
  if (request.url?.startsWith("/agents/")) agents(request, response);
  else response.end("Your app.");
});
http.listen(4200, () => console.log(`http://127.0.0.1:${(http.address() as { port: number }).port}`));
