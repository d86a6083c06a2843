export { type AgUiOptions, agUiRoutes } from "./ag-ui-routes.ts";
