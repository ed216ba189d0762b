import { contextBridge, ipcRenderer } from 'electron';
import { createBridgeApi } from './bridge-api.ts';

contextBridge.exposeInMainWorld('holdfast', createBridgeApi(ipcRenderer));
