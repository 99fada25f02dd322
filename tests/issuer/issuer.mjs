// The identity provider of the suites: a certified one, with a test's hand on its people and keys.
//
//   node issuer.mjs <directory with node_modules> <port> <client secret> <address that logins come back to> <address after a logout> <ways in which clients say who they are> <whether the ID token says little>
//
// Whoever is sent here is logged in at once, as the person that was last put: PUT /test/person {"sub": ..., "email": ...}.
// POST /test/rotate makes a new key and takes the old one back. Everything else is the provider's own.

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [home, port, secret, callback, afterLogout, methods, thin] = process.argv.slice(2);
const found = createRequire(join(home, 'package.json')).resolve('oidc-provider');
const { default: Provider } = await import(pathToFileURL(found));

const url = `http://127.0.0.1:${port}`;
let person = { sub: 'nobody' };

function key() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}

const client = {
  redirect_uris: [callback],
  post_logout_redirect_uris: [afterLogout],
  response_types: ['code'],
  grant_types: ['authorization_code'],
};

function provider() {
  const made = new Provider(url, {
    clients: [
      { ...client, client_id: 'herma', client_secret: secret, token_endpoint_auth_method: methods.split(' ')[0] },
      { ...client, client_id: 'herma-public', token_endpoint_auth_method: 'none' },
      { client_id: 'worker', client_secret: secret, redirect_uris: [], response_types: [], grant_types: ['client_credentials'] },
    ],
    clientAuthMethods: methods.split(' '),
    jwks: { keys: [key()] },
    cookies: { keys: ['fake-cookie-key'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    // The ID token tells what the scopes ask for, as those of most providers do, or leaves it to another endpoint.
    conformIdTokenClaims: thin === 'true',
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      // A program gets a signed token for the service that it names.
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, audience) => ({ audience, scope: 'run read cron', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
      },
    },
    interactions: { url: (_, interaction) => `/test/login/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...person, sub }) }),
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope('openid email groups');
      await grant.save();
      return grant;
    },
  });
  made.proxy = false;
  return made;
}

let current = provider();

async function body(request) {
  let text = '';
  for await (const piece of request) text += piece;
  return JSON.parse(text);
}

createServer(async (request, response) => {
  if (request.method === 'PUT' && request.url === '/test/person') {
    person = await body(request);
    response.writeHead(204).end();
  } else if (request.method === 'POST' && request.url === '/test/rotate') {
    current = provider();
    response.writeHead(204).end();
  } else if (request.url.startsWith('/test/login/')) {
    if (person.refuses) await current.interactionFinished(request, response, { error: 'access_denied', error_description: 'no <b>entry</b>' });
    else await current.interactionFinished(request, response, { login: { accountId: person.sub } });
  } else {
    current.callback()(request, response);
  }
}).listen(Number(port), '127.0.0.1');
