import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The conversation alone, as it is built for the page: to look at and to measure.
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react()],
  resolve: { conditions: ["@loopwright/source", "module", "browser", "development|production"] },
  build: { target: "es2023", emptyOutDir: true },
});
