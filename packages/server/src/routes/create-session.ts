import { AgentError } from "@loopwright/core";
import type { Route } from "../http/route.ts";
import { admit } from "../identity/admit.ts";
import { type NewSessionRequest, newSessionRequest, sessionSnapshot } from "../schemas/index.ts";

export const createSessionRoute: Route<unknown, unknown, NewSessionRequest> = {
  method: "POST",
  path: "/api/sessions",
  id: "createSession",
  summary: "Begins a session.",
  access: "principal",
  isRefusedAtEnd: true,
  body: newSessionRequest,
  responses: {
    201: { description: "The session; `Location` leads to it.", schema: sessionSnapshot },
    403: { description: "The context holds what only trusted callers may bring." },
    404: { description: "No such agent." },
    409: { description: "A session of this id exists." },
  },
  async handle({ principal, scene, body }) {
    const { id, agent = scene.options.agents[0]?.name ?? "", title, metadata, context } = body;
    admit(principal, { agent, context }, scene);
    const hosted = await scene.host.create(principal, { id, agent, title, metadata, ...context });
    try {
      const { session } = hosted;
      if (!(await session.open())) throw new AgentError("SESSION_EXISTS", { message: `The session \`${session.id}\` exists already.` });
      await session.ready();
      const location = `${scene.options.basePath ?? ""}/api/sessions/${session.id}`;
      return Response.json(session.snapshot(), { status: 201, headers: { Location: location } });
    } finally {
      hosted.release();
    }
  },
};
