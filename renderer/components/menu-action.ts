import type { Component } from 'svelte';

/** One entry of a menu. `why` says why a disabled entry cannot be chosen now. */
export interface MenuAction {
  name: string;
  icon?: Component<{ size?: number }>;
  disabled?: boolean;
  why?: string;
  run(): void;
}
