import { startInterface } from './app/start.ts';
import { openConnection } from './transport/open-connection.ts';

startInterface(openConnection(window), window);
