import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Relative addresses: the page works under any path.
export default defineConfig({
  base: "./",
  plugins: [react()],
  resolve: { conditions: ["@loopwright/source", "module", "browser", "development|production"] },
  build: { target: "es2023", modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
});
