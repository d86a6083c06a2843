import { abortRunRoute } from "../routes/abort-run.ts";
import { changeSessionRoute } from "../routes/change-session.ts";
import { createSessionRoute } from "../routes/create-session.ts";
import { decideCallRoute } from "../routes/decide-call.ts";
import { eventsRoute } from "../routes/events.ts";
import { executeRoute } from "../routes/execute.ts";
import { healthRoute, readyRoute } from "../routes/health.ts";
import { listAgentsRoute } from "../routes/list-agents.ts";
import { listSessionsRoute } from "../routes/list-sessions.ts";
import { listToolsRoute } from "../routes/list-tools.ts";
import { metricsRoute } from "../routes/metrics.ts";
import { notificationsRoute } from "../routes/notifications.ts";
import { openApiRoute } from "../routes/openapi.ts";
import { readConversationRoute } from "../routes/read-conversation.ts";
import { readFileRoute } from "../routes/read-file.ts";
import { readRunRoute } from "../routes/read-run.ts";
import { readSessionRoute } from "../routes/read-session.ts";
import { removeSessionRoute } from "../routes/remove-session.ts";
import { sendResultsRoute } from "../routes/send-results.ts";
import { submitMessageRoute } from "../routes/submit-message.ts";
import { uploadFileRoute } from "../routes/upload-file.ts";
import { versionRoute } from "../routes/version.ts";
import type { Route } from "./route.ts";

/** Every route of the server: what is answered, what is checked and what `/openapi.json` says come from here. */
export const routeTable: readonly Route[] = [
  executeRoute,
  readConversationRoute,
  createSessionRoute,
  listSessionsRoute,
  readSessionRoute,
  changeSessionRoute,
  removeSessionRoute,
  submitMessageRoute,
  eventsRoute,
  readRunRoute,
  sendResultsRoute,
  decideCallRoute,
  abortRunRoute,
  uploadFileRoute,
  readFileRoute,
  notificationsRoute,
  listAgentsRoute,
  listToolsRoute,
  healthRoute,
  readyRoute,
  metricsRoute,
  versionRoute,
  openApiRoute(() => routeTable),
];
