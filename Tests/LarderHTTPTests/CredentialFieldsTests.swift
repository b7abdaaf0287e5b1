import LarderHTTP
import Testing

@Suite("Credential fields", .timeLimit(.minutes(5)))
struct CredentialFieldsTests {
  @Test(
    "by name and by pattern, in any case",
    arguments: [
      ("Authorization", true), ("authorization", true), ("PROXY-AUTHORIZATION", true), ("Cookie", true), ("DPoP", true),
      ("APIKey", true), ("Api-Key", true), ("X-API-Key", true), ("Ocp-Apim-Subscription-Key", true),
      ("X-Functions-Key", true), ("X-Goog-Api-Key", true), ("PRIVATE-TOKEN", true), ("X-Access-Token", true),
      ("X-Amz-Security-Token", true), ("X-Auth-Token", true), ("X-Session-Token", true), ("X-Vault-Token", true),
      ("A-SECRET", true), ("a-session", true), ("-key", true),
      ("Key", false), ("Token", false), ("Monkey", false), ("X-Keys", false), ("X-Token-Type", false),
      ("Cookie2", false),
      ("Accept", false), ("Host", false), ("User-Agent", false), ("Connection", false), ("", false),
      ("Idempotency-Key", false), ("X-Idempotency-Key", false), ("Sec-WebSocket-Key", false), ("X-CSRF-Token", false),
      ("X-XSRF-Token", false), ("CSRF-Token", false), ("XSRF-TOKEN", false),
    ])
  func standard(name: String, isCredential: Bool) {
    #expect(CredentialFields().contains(HTTPFieldName(name)) == isCredential)
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
