import { defineConfig } from 'vitest/config';

const everywhere = { environment: 'node' as const, restoreMocks: true };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...everywhere,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/desktop/**', 'test/packaging/**', 'test/interop/**', 'test/bench/**'],
          testTimeout: 15_000,
        },
      },
      {
        test: { ...everywhere, name: 'interop', include: ['test/interop/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        test: {
          ...everywhere,
          name: 'desktop',
          include: ['test/desktop/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'packaging',
          include: ['test/packaging/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
