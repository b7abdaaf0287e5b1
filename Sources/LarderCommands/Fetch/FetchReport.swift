internal import LarderContent
internal import LarderHTTP

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Describes a response after its content has been delivered.
struct FetchReport: Sendable {
  private let cachedResponse: CachedResponse
  private let bytes: Int
  private let elapsed: Duration
  private let isStored: Bool

  init(_ cachedResponse: CachedResponse, bytes: Int, elapsed: Duration) {
    self.cachedResponse = cachedResponse
    self.bytes = bytes
    self.elapsed = elapsed
    isStored = cachedResponse.isStored
  }

  /// The report for a person: `from disk, 12 s old: 4711 bytes in 1.3 ms`.
  var line: String {
    var text: String
    switch cachedResponse.origin {
    case .memory: text = "from memory"
    case .disk: text = "from disk"
    case .validated: text = "from disk, confirmed by the server"
    case .network, .generated: text = isStored ? "from the network, cached" : "from the network, not cached"
    }
    if cachedResponse.origin != .network, let age = cachedResponse.age { text += ", \(Self.ageText(age)) old" }
    if let status = cachedResponse.hiddenBy { text += ", hidden by a later response with status \(status)" }
    if !cachedResponse.isFinal { text += ", being renewed" }
    return text + ": \(bytes) bytes in \(Milliseconds.text(elapsed)) ms"
  }

  /// Writes the report as one JSON object.
  func write(to port: OutputPort) throws(OutputError) {
    let response = cachedResponse.response
    var json = JSONOutput(port)
    json.beginObject()
    json.member("url", response.url.absoluteString)
    json.member("status", response.status)
    json.member("origin", Self.name(cachedResponse.origin))
    json.member("stored", isStored)
    json.member("intermediate", !cachedResponse.isFinal)
    if let status = cachedResponse.hiddenBy { json.member("hiddenBy", status) }
    json.name("age")
    if let age = cachedResponse.age { json.integer(age.components.seconds) } else { json.null() }
    json.member("bytes", bytes)
    json.name("milliseconds")
    json.raw(Milliseconds.text(elapsed))
    json.member("cacheStatus", response.fields[.cacheStatus])
    json.member("headers", response.fields)
    json.endObject()
    try json.endLine()
  }

  private static func name(_ origin: ContentOrigin) -> String {
    switch origin {
    case .memory: "memory"
    case .disk: "disk"
    case .network: "network"
    case .validated: "validated"
    case .generated: "generated"
    }
  }

  /// An age in a readable unit.
  static func ageText(_ age: Duration) -> String {
    let seconds = age.components.seconds
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}

/// Describes a query's failure for the command line.
enum ContentFailure {
  static func failure(_ error: ContentError) -> CommandFailure {
    let status: CommandStatus
    switch error.category {
    case .transport(let error): status = CommandFailure.status(of: error)
    // A 304 that no condition of the caller asked for is an error of the transport.
    case .status(304): return CommandFailure.notModified(error.url?.absoluteString ?? "the content")
    case .status(let number): status = CommandFailure.status(ofHTTP: number)
    case .file, .storage: status = .storage
    case .parse, .tooLarge, .notCached: status = .negative
    }
    return CommandFailure(status, error.description, hint: hint(error))
  }

  private static func hint(_ error: ContentError) -> String? {
    if case .notCached = error.category { return "Fetch it once without --offline." }
    return error.isAuthenticationError
      ? "Credentials come from --user-file FILE or LARDER_USER and LARDER_PASSWORD." : nil
  }
}
