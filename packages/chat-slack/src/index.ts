export { openSlack, type SlackChannel, type SlackOptions } from "./open-slack.ts";
