import type { Route } from "../request/route.ts";
import { createTicketRoute } from "../routes/access/create-ticket.ts";
import { logInRoute } from "../routes/access/log-in.ts";
import { logOutRoute } from "../routes/access/log-out.ts";
import { readAccessRoute } from "../routes/access/read-access.ts";
import { listAgentsRoute } from "../routes/agents/list-agents.ts";
import { listToolsRoute } from "../routes/agents/list-tools.ts";
import { decideCallRoute } from "../routes/approvals/decide-call.ts";
import { listApprovalsRoute } from "../routes/approvals/list-approvals.ts";
import { listRulesRoute, removeRuleRoute } from "../routes/approvals/list-rules.ts";
import { listFilesRoute } from "../routes/files/list-files.ts";
import { readFileRoute } from "../routes/files/read-file.ts";
import { removeFileRoute } from "../routes/files/remove-file.ts";
import { uploadFileRoute } from "../routes/files/upload-file.ts";
import { publishNotificationRoute } from "../routes/publish-notification.ts";
import { abortRunRoute } from "../routes/runs/abort-run.ts";
import { executeRoute } from "../routes/runs/execute.ts";
import { readRunRoute } from "../routes/runs/read-run.ts";
import { sendResultsRoute } from "../routes/runs/send-results.ts";
import { submitMessageRoute } from "../routes/runs/submit-message.ts";
import { listSchedulesRoute } from "../routes/schedules/list-schedules.ts";
import { removeScheduleRoute } from "../routes/schedules/remove-schedule.ts";
import { setScheduleRoute } from "../routes/schedules/set-schedule.ts";
import { healthRoute, readyRoute } from "../routes/service/health.ts";
import { metricsRoute } from "../routes/service/metrics.ts";
import { openApiRoute } from "../routes/service/openapi.ts";
import { versionRoute } from "../routes/service/version.ts";
import { changeSessionRoute } from "../routes/sessions/change-session.ts";
import { createSessionRoute } from "../routes/sessions/create-session.ts";
import { exportSessionRoute } from "../routes/sessions/export-session.ts";
import { forkSessionRoute } from "../routes/sessions/fork-session.ts";
import { holdSessionRoute, releaseHoldRoute } from "../routes/sessions/hold-session.ts";
import { listSessionsRoute } from "../routes/sessions/list-sessions.ts";
import { readConversationRoute } from "../routes/sessions/read-conversation.ts";
import { readLogRoute } from "../routes/sessions/read-log.ts";
import { eventsRoute } from "../routes/sessions/read-or-stream-events.ts";
import { readSessionRoute } from "../routes/sessions/read-session.ts";
import { removeSessionRoute } from "../routes/sessions/remove-session.ts";
import { shareSessionRoute } from "../routes/sessions/share-session.ts";
import { notificationsRoute } from "../routes/stream-notifications.ts";

/** Every route of the server. The checks of requests and the content of `/openapi.json` come from this table too. */
export const routeTable: readonly Route[] = [
  executeRoute,
  readConversationRoute,
  createSessionRoute,
  listSessionsRoute,
  readSessionRoute,
  exportSessionRoute,
  readLogRoute,
  forkSessionRoute,
  changeSessionRoute,
  removeSessionRoute,
  shareSessionRoute,
  holdSessionRoute,
  releaseHoldRoute,
  submitMessageRoute,
  eventsRoute,
  readRunRoute,
  sendResultsRoute,
  decideCallRoute,
  listApprovalsRoute,
  listRulesRoute,
  removeRuleRoute,
  abortRunRoute,
  listSchedulesRoute,
  setScheduleRoute,
  removeScheduleRoute,
  uploadFileRoute,
  listFilesRoute,
  readFileRoute,
  removeFileRoute,
  notificationsRoute,
  publishNotificationRoute,
  readAccessRoute,
  logInRoute,
  logOutRoute,
  createTicketRoute,
  listAgentsRoute,
  listToolsRoute,
  healthRoute,
  readyRoute,
  metricsRoute,
  versionRoute,
  openApiRoute,
];
