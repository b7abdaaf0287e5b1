/// The request fields that are credentials: they identify the client, or authenticate it.
///
/// Caches keep responses to different values of any of these fields apart, recordings leave them out, and the command line
/// does not accept them as plain arguments. A field is a credential by the words of its name, which `-`, `_` or nothing
/// separates, in any case: `X-Api-Key`, `X_API_Key` and `XApiKey` are equal in this respect.
///
/// | words | such as |
/// | --- | --- |
/// | the last word is `key`, `token`, `secret`, `password`, `passwd`, `passphrase`, `pwd`, `jwt`, `authentication`, `credential` or `credentials` | `Ocp-Apim-Subscription-Key`, `PRIVATE-TOKEN`, `ClientSecret`, `X-JWT` |
/// | one word is `authorization`, `auth`, `cookie`, `session`, `bearer` or `dpop`, or the last ones are `session` or `context` and `id` | `X-Original-Authorization`, `X-Auth-User`, `Cookie`, `DPoP`, `SAP-ContextId` |
///
/// Parts of words do not count: `X-Monkey`, `Author` and `X-Token-Type` are no credentials. Three kinds of field have these
/// words and are none: `Idempotency-Key`, which names a request, `Sec-WebSocket-Key`, which names a connection, and CSRF
/// tokens (`X-CSRF-Token`, `X-XSRF-Token` and the like), which are useless without the session's cookie.
/// ``insert(_:)`` adds a field, ``remove(_:)`` removes one.
public struct CredentialFields: Hashable, Sendable {
  /// The fields passed to ``insert(_:)`` and ``remove(_:)``, by canonical name.
  private var decided: [String: Bool] = [:]

  /// Creates the set of fields in the table.
  public init() {}

  /// Treats a field as a credential.
  public mutating func insert(_ name: HTTPFieldName) { decided[name.canonicalName] = true }

  /// Treats a field as no credential: responses to different values of it may be exchanged.
  public mutating func remove(_ name: HTTPFieldName) { decided[name.canonicalName] = false }

  /// Whether a field is a credential. Takes some nanoseconds, as it is called for each field of each request.
  public func contains(_ name: HTTPFieldName) -> Bool {
    if let decision = decision(for: name) { return decision }
    let kind = SecretNames.kind(ofField: name)
    // The token of a list separates responses too.
    return kind == .credential || kind == .listToken
  }

  /// What ``insert(_:)`` and ``remove(_:)`` have decided about a field; nil if its name decides.
  package func decision(for name: HTTPFieldName) -> Bool? { decided.isEmpty ? nil : decided[name.canonicalName] }
}
