import LarderHTTP
import Testing

@Suite("Credential fields", .timeLimit(.minutes(5)))
struct CredentialFieldsTests {
  static let credentials = [
    "Authorization", "Proxy-Authorization", "Cookie", "DPoP", "APIKey", "Api-Key", "X-API-Key",
    "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Goog-Api-Key", "PRIVATE-TOKEN", "X-Access-Token",
    "X-Amz-Security-Token", "X-Auth-Token", "X-Session-Token", "X-Vault-Token", "A-Secret", "a-session", "X-Key",
    "X-ApiKey", "X-Authorization", "X-Original-Authorization", "X-JWT", "X-Auth", "X-AuthToken", "X-Password",
    "X-Session-Id", "X-Cookie", "XApiKey", "X_API_Key", "Token", "AccessToken", "ApiToken", "PrivateToken", "Auth",
    "AuthToken", "ClientSecret", "Secret", "Password", "Passwd", "JWT", "Session", "SessionId", "SAP-ContextId",
    "X-TenantKey", "XJWT", "Set-Cookie", "X-Auth-User", "MYSAPSSO2", "X-Credentials", "X-Pwd", "OAuth", "Bearer",
    "X-Password2", "X-Next-Page-Token", "X-NextPageToken", "X-Csrf-Secret",
  ]

  @Test("By the words of the name, however they are separated, in any case", arguments: credentials)
  func credential(name: String) {
    for name in [name, name.lowercased(), name.uppercased()] {
      #expect(CredentialFields().contains(HTTPFieldName(name)), "\(name)")
    }
  }

  @Test(
    "Parts of words do not count, and three kinds of field are exceptions",
    arguments: [
      "Idempotency-Key", "X-Idempotency-Key", "IdempotencyKey", "Sec-WebSocket-Key", "X-CSRF-Token", "X-XSRF-Token",
      "CSRF-Token", "XSRF-TOKEN", "X-CSRFToken", "XCsrfToken", "RequestVerificationToken",
      "Monkey", "X-Turkey", "X-Keys", "X-Keyboard", "X-Token-Type", "X-Tokenizer", "Author", "X-Authority",
      "X-Secretary", "X-Obsession", "X-Possession", "X-Passage", "X-OAuth-Scopes", "Context", "Key", "Cookie2",
      "Access-Control-Allow-Credentials", "Authentication-Info", "WWW-Authenticate", "Keep-Alive", "Content-Type",
      "Accept", "Host", "User-Agent", "Connection", "Sec-Fetch-Site", "X-Request-ID", "",
    ])
  func harmless(name: String) {
    for name in [name, name.lowercased(), name.uppercased()] {
      #expect(!CredentialFields().contains(HTTPFieldName(name)), "\(name)")
    }
  }

  @Test("names can be added and removed; the last call applies")
  func changes() {
    var fields = CredentialFields()
    fields.insert("X-Who")
    fields.insert("X-CSRF-Token")
    fields.remove("cookie")
    fields.remove("X-My-Token")
    for name in ["x-WHO", "X-CSRF-Token", "Authorization", "X-Other-Token"] {
      #expect(fields.contains(HTTPFieldName(name)))
    }
    for name in ["Cookie", "x-my-token", "Accept"] { #expect(!fields.contains(HTTPFieldName(name))) }
    fields.remove("X-Who")
    fields.insert(.cookie)
    #expect(!fields.contains("X-Who"))
    #expect(fields.contains("Cookie"))
  }
}
