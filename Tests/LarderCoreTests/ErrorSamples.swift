import Foundation
import LarderCore
import LarderHTTP
import Testing

@testable import LarderContent
@testable import LarderOData
@testable import LarderODataXML
@testable import LarderObjects
@testable import LarderOffline
@testable import LarderOnline
@testable import LarderService
@testable import LarderStorage

#if os(Linux)
  @testable import LarderServer
#endif

/// An error of each case of each public type, with details with and without a full stop at their end.
enum ErrorSamples {
  /// The errors of one type.
  struct Kind: Sendable, CustomTestStringConvertible {
    let domain: String
    /// The highest number, counted from 1; 0 if another test checks the numbers.
    let count: Int
    /// The numbers that are HTTP statuses.
    let statuses: Set<Int>
    let samples: [any LarderError]

    init<Failure: LarderError>(_ count: Int, _ samples: [Failure], statuses: Set<Int> = []) {
      domain = String(reflecting: Failure.self)
      self.count = count
      self.statuses = statuses
      self.samples = samples
    }

    var testDescription: String { domain }
  }

  /// Details, as the lower layers write them.
  private static let particulars = ["the reason", "It has a full stop.", "is there not?", "a path of /tmp/x.y"]

  private static func each<Failure>(_ make: (String) -> [Failure]) -> [Failure] { particulars.flatMap(make) }

  static let kinds: [Kind] = {
    var kinds = language + payloads + service + stores
    #if os(Linux)
      kinds += gateway
    #endif
    return kinds
  }()

  private static let language = [
    Kind(
      11,
      each { syntax($0).map { ODataSyntaxError($0, offset: 4, in: "Orders?$top=x") } }),
    Kind(
      14,
      each { binding($0).map { ODataBindingError($0, at: SourcePosition(offset: 4), in: "Orders?$top=x") } }),
    Kind(
      11,
      each { printing($0).map { ODataPrintingError($0, in: ["$expand", "$filter"]) } }),
    Kind(8, each { text in values(text).map { ODataValueError($0, type: .int32, text: "1x") } }),
    Kind(8, each(values)),
  ]

  private static func syntax(_ text: String) -> [ODataSyntaxError.Problem] {
    [
      .unexpected(expected: ["a name", "')'"]), .unexpected(expected: []), .tooDeep(limit: 5),
      .invalidPercentEncoding, .invalidUTF8, .invalidLiteral(text), .duplicateOption("$top"),
      .misplacedOption("$top", allowed: ["$select"]), .unknownFunction("f", nearest: "g"),
      .unknownFunction("f", nearest: nil), .wrongArgumentCount("contains", expected: "2 arguments", found: 1),
      .numberTooLarge, .notInDialect("in"),
    ]
  }

  private static func binding(_ text: String) -> [ODataBindingError.Problem] {
    [
      .unknownName("Nam", what: "property", place: "in NS.Order", nearest: "Name"),
      .wrongType(expected: "Edm.Int32", found: "Edm.String"),
      .wrongOperands("eq", left: "null", right: "Collection(Edm.String)"),
      .wrongArguments("contains", found: ["Edm.Int32"], expected: ["(Edm.String)"]), .invalidLiteral(text),
      .wrongKey(type: "NS.Order", expected: ["ID"], found: ["X"]),
      .noOverload("NS.f", found: ["a"], expected: ["(b)"]),
      .misplacedStep("$count", behind: "$value", reason: text),
      .misplacedOption("$top", on: "an entity", reason: text), .duplicate("$top"), .circularAlias("a"),
      .tooDeep(limit: 5), .tooLarge(limit: 5), .notSupported(text),
    ]
  }

  private static func printing(_ text: String) -> [ODataPrintingError.Problem] {
    [
      .notInDialect("in", .v2, cure: "use or"), .invalidName("a b", expected: "name of a property"),
      .ambiguousName("null", readsAs: "a literal", cure: "choose another"), .tooFew("concat", least: 2, found: 1),
      .wrongArgumentCount("contains", expected: 2...2, found: 1), .misplaced("$it", expected: "a path"),
      .variableNotInScope("x"), .invalidValue(text), .unreadable(text), .needsPercentEncoding("a#b"),
      .tooDeep(limit: 5),
    ]
  }

  private static func writing(_ text: String) -> [ODataPayloadWritingError.Problem] {
    [
      .value(ODataValueError(.malformed, type: .int32, text: text)), .notSupported(text), .tooDeep(limit: 5),
    ]
  }

  private static func atom(_ text: String) -> [AtomError.Problem] {
    [
      .empty, .malformed(text), .truncated, .documentTypeRejected, .tooDeep(limit: 5), .tooLarge(limit: 5),
      .unsupportedEncoding, .notOData(root: "html"), .invalidValue(text),
    ]
  }

  private static func values(_ text: String) -> [ODataValueError.Problem] {
    [
      .malformed, .outOfRange, .fractional, .wrongKind(text), .calendarDuration, .tooLong(limit: 5), .tooDeep(limit: 5),
      .notSupported(text),
    ]
  }

  private static func batches(_ text: String) -> [BatchError.Problem] {
    [
      .notABatch(contentType: "text/html"), .badBoundary("x"), .truncated, .malformedLine("x"),
      .unexpectedPart(contentType: "text/plain"), .tooLarge(what: "parts", limit: 5), .invalidRequest(text),
      .malformedJSON(text), .countMismatch(expected: 2, found: 1), .unknownID("7"),
    ]
  }

  private static func readings(_ text: String) -> [PayloadError.Problem] {
    [
      .json(.unexpectedEnd), .unexpected(expected: "an object"), .invalidValue(text), .duplicateName("a"),
      .objectTooLarge(limit: 5), .tooManyNames(limit: 5), .inStreamError(ODataErrorPayload(code: "X", message: text)),
    ]
  }

  private static let metadata: [MetadataError.Reason] = [
    .empty, .notMetadata, .malformed, .truncated, .documentTypeRejected, .tooDeep, .tooLarge, .notSupported,
  ]

  private static let json: [JSONError.Problem] = [
    .unexpectedEnd, .unexpectedByte(0x41, expected: "a value"), .trailingContent, .tooDeep(limit: 5),
    .tokenTooLong(limit: 5), .invalidUTF8, .notUTF8, .controlCharacter(1), .invalidEscape, .loneSurrogate,
    .invalidNumber,
    .invalidLiteral, .duplicateName("a"),
  ]

  private static let payloads = [
    Kind(10, each { batches($0).map { BatchError($0, part: "3.2", offset: 7) } }),
    Kind(10, each(batches)),
    Kind(13, json.map { JSONError($0, offset: 4, line: 1, column: 5) }),
    Kind(7, each { readings($0).map { PayloadError($0, offset: 4, path: "$.value[3]") } }),
    Kind(7, each(readings)),
    Kind(
      3,
      each { writing($0).map { ODataPayloadWritingError(problem: $0, path: "Items/Price") } }),
    Kind(
      8,
      each { text in
        metadata.map { MetadataError($0, text, cure: "Check it", at: MetadataLocation(line: 1, path: "Edmx")) }
      }),
    Kind(
      9,
      each { atom($0).map { AtomError($0, line: 1, column: 2, path: "feed/entry") } }),
    Kind(1, each { [AtomWritingError(reason: $0)] }),
  ]

  private static func transports(_ text: String) -> [HTTPTransportError] {
    [
      .invalidRequest(text), .hostNotFound(host: "h"), .cannotConnect(host: "h", reason: text),
      .tls(host: "h", reason: text),
      .timeout(phase: "idle"), .connectionLost(reason: text), .protocolViolation(text), .tooManyRedirects,
      .redirectRejected(text), .bodyTooLarge(limit: 5), .bodyConsumed, .cancelled, .notSupported(text), .other(text),
      .suspended,
    ]
  }

  private static func authentication(_ text: String) -> [HTTPAuthenticationError] {
    [
      .rejected(challenge: "Basic"), .tokenEndpoint(code: "invalid_client"), .invalidGrant(), .deviceCodeExpired,
      .accessDenied,
      .malformedTokenResponse(text), .unreachable(.cannotConnect(host: "h", reason: text)), .provider("SomeType"),
      .unavailable(status: 429, retryAfter: "30"),
    ]
  }

  private static let statuses: Set = [304, 302, 400, 401, 403, 404, 408, 409, 410, 412, 428, 429, 500, 503, 402]

  private static func services(_ text: String) -> [ODataServiceError] {
    let plain: [ODataServiceError.Category] = [
      .csrf(text), .invalidRequest(text), .malformedResponse(text), .notSupported(text), .cancelled, .notProcessed,
      .notOpen,
      .passive, .notCached, .suspended, .undecodableType(text), .alreadyOpen, .cacheInUse(path: "/a"), .cacheNotEnabled,
      .cacheClosed, .cacheNotClosed, .metadataUnreadable(text),
    ]
    var categories = plain
    for error in storages(text) { categories.append(.storage(error)) }
    for error in transports(text) { categories.append(.communication(error)) }
    for error in authentication(text) { categories.append(.authentication(error)) }
    for status in statuses { categories.append(.http(status: status, payload: nil)) }
    return categories.map { ODataServiceError($0, operation: "read", method: .get, url: "https://h/s/Orders?a=b") }
  }

  private static let service = [
    Kind(1, each { [RecordingError("exchange 2: \($0)")] }),
    Kind(15, each(transports)),
    Kind(9, each(authentication)),
    Kind(20, each(services), statuses: statuses),
  ]

  private static func storages(_ text: String) -> [StorageError] {
    StorageError.Category.allCases.flatMap { category in
      [
        StorageError(category, code: 14, message: text.prefix(1).uppercased() + text.dropFirst(), path: nil),
        StorageError(category, code: 14, message: text.prefix(1).uppercased() + text.dropFirst(), path: "/a/b.larder"),
      ]
    }
  }

  private static func contents(_ text: String) -> [ContentError] {
    var kinds: [ContentError.Category] = [
      .parse(AtomWritingError(reason: text)), .tooLarge(limit: 5), .notCached, .file(path: "/a", reason: text),
    ]
    for status in statuses { kinds.append(.status(status)) }
    for error in caches(text) { kinds.append(.storage(error)) }
    for error in transports(text) { kinds.append(.transport(error)) }
    return kinds.map { ContentError($0, url: URL(filePath: "/")) }
  }

  private struct User: Codable { var name: String }

  /// Errors that decoders and encoders throw for values of other types.
  private static let codings: [any Error] = {
    let texts = [#"{"name":1}"#, "{}", #"{"name":null}"#, "x", #""text""#]
    return texts.compactMap { (text: String) -> (any Error)? in
      do { _ = try JSONDecoder().decode(User.self, from: Data(text.utf8)) } catch { return error }
      return nil
    }
  }()

  private static func objects(_ text: String) -> [ObjectStoreError] {
    var reasons: [ObjectStoreError.Category] = [
      .invalidKey(byteCount: 0), .invalidLabel(""), .tooManyLabels(99), .tooLarge(byteCount: 9, limit: 5),
      .typeMismatch(requested: "Int", stored: "Expected to decode Int but found a string instead."),
      .typeMismatch(requested: "Int", stored: text), .damaged, .gone, .invalidCursor, .closed,
      .suspended,
    ]
    for error in codings { reasons += [.undecodable(requested: "User", error), .unencodable(error), .absent(error)] }
    for error in storages(text) { reasons.append(.storage(error)) }
    return reasons.map { ObjectStoreError(.read, key: "k", $0) }
  }

  private static func caches(_ text: String) -> [CacheError] {
    [
      .tooLarge(limit: 5), .full(path: "/a"), .readOnly(path: "/a"), .corrupt(path: "/a", reason: text),
      .foreign(path: "/a"),
      .wrongKey(path: "/a"), .encrypted(path: "/a"), .notEncrypted(path: "/a"), .failed(path: "/a", reason: text),
      .gone,
      .closed, .notSupported(text), .suspended, .noDefaultLocation(reason: "The default location is unknown"),
    ]
  }

  private static func offline(_ text: String) -> [OfflineODataError] {
    var below = codings
    for error in services(text) { below.append(error) }
    for error in storages(text) { below.append(error) }
    for error in transports(text) { below.append(error) }
    var errors = below.map { OfflineODataError(below: $0) }
    for name in OfflineODataErrorName.allCases { errors += [OfflineODataError(name), OfflineODataError(name, text)] }
    return errors
  }

  private static let stores = [
    Kind(StorageError.Category.allCases.count, each(storages)),
    Kind(6, each(contents), statuses: statuses),
    Kind(14, each(caches)),
    Kind(
      7,
      [CacheMetadata.DecodingError.Reason.cutOff, .version, .flags, .number, .text, .ranges, .tail].map {
        CacheMetadata.DecodingError($0, at: 3)
      }),
    Kind(14, each(objects)),
    Kind(0, each(offline)),
  ]

  #if os(Linux)
    private static let gateway = [
      Kind(
        7,
        each { text in
          [
            .addressInUse(host: "h", port: 80), .addressNotAvailable(host: "10.0.0.1"),
            .notPermitted(host: "h", port: 80),
            .invalidAddress("x"), .invalidOption(text), .failed(text), .invalidUpstream(text),
          ] as [HTTPServerError]
        })
    ]
  #endif
}
