export { type A2aOptions, type A2aSkill, a2aRoutes } from "./a2a-routes.ts";
