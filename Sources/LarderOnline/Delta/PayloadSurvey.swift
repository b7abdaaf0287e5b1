import LarderHTTP
import LarderOData

/// What a scan of a payload shows without decoding it: whether it is complete, names a delta link, or is empty.
struct PayloadSurvey: Sendable, Equatable {
  /// The formats that say something about changes.
  enum Format: Sendable, Equatable { case jsonV4, jsonV2, xml, other }

  /// The format of the payload.
  var format: Format
  /// False if the content is truncated or garbled.
  var isWhole: Bool
  /// The link for later changes; nil if the payload has none or continues at a next link.
  var deltaLink: String?
  /// True if the payload certainly holds no entity, deletion or link and no further page: as a delta, nothing changed.
  var isEmptyDelta: Bool
  /// True if the payload is an error of OData or a web page, whatever its status and type say.
  var isErrorOrPage = false

  /// Surveys a response's content by its type and first bytes.
  init(_ bytes: [UInt8], contentType: String?) {
    let type = contentType?.lowercased() ?? ""
    let isJSON = type.contains("json") || (type.isEmpty && PayloadSurvey.startsLikeJSON(bytes))
    if isJSON {
      self = PayloadSurvey.json(bytes)
    } else if type.contains("xml") || (type.isEmpty && PayloadSurvey.first(bytes) == UInt8(ascii: "<")) {
      self = PayloadSurvey.atom(bytes)
      isErrorOrPage = PayloadSurvey.isErrorOrPage(bytes)
    } else {
      self.init(format: .other, isWhole: true)
    }
  }

  init(format: Format, isWhole: Bool, deltaLink: String? = nil, isEmptyDelta: Bool = false) {
    self.format = format
    self.isWhole = isWhole
    self.deltaLink = deltaLink
    self.isEmptyDelta = isEmptyDelta
  }

  private static func startsLikeJSON(_ bytes: [UInt8]) -> Bool {
    let first = first(bytes)
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
  }

  private static func first(_ bytes: [UInt8]) -> UInt8? {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    return bytes[start...].first { $0 > 0x20 }
  }

  // MARK: JSON

  private static func json(_ bytes: [UInt8]) -> PayloadSurvey {
    var scanner = JSONScanner(bytes, limits: JSONLimits(depth: 1024, stringBytes: .max))
    do throws(JSONError) {
      guard let first = try scanner.next() else { return PayloadSurvey(format: .jsonV4, isWhole: false) }
      guard first.kind == .beginObject else {
        _ = try scanner.skip(first)
        _ = try scanner.next()
        return PayloadSurvey(format: .jsonV4, isWhole: true)
      }
      let survey = try members(&scanner, isTop: true)
      // Only white space may follow.
      _ = try scanner.next()
      return survey
    } catch {
      return PayloadSurvey(format: .jsonV4, isWhole: false)
    }
  }

  /// The members of the payload's object, which V2 wraps in `d`.
  private static func members(
    _ scanner: inout JSONScanner, isTop: Bool
  ) throws(JSONError) -> PayloadSurvey {
    var survey = PayloadSurvey(format: isTop ? .jsonV4 : .jsonV2, isWhole: true)
    var rows: Int?
    var hasNext = false
    var isDelta = false
    var holdsError = false
    var holdsOther = false
    while let name = try scanner.next(), name.kind == .name {
      let text = scanner.string(name)
      guard let value = try scanner.next() else { break }
      switch text {
      case "d" where isTop && value.kind == .beginObject: survey = try members(&scanner, isTop: false)
      case "value" where isTop && value.kind == .beginArray: rows = try (rows ?? 0) + countedItems(&scanner)
      case "@odata.context", "@context":
        // A service that ignores the token returns the collection itself, whose context is different (§10.12).
        isDelta = value.kind == .string && scanner.string(value).hasSuffix("$delta")
        holdsOther = true
        _ = try scanner.skip(value)
      case "error" where isTop && value.kind == .beginObject, "odata.error" where isTop && value.kind == .beginObject:
        holdsError = try isError(&scanner)
      case "@odata.deltaLink", "@deltaLink", "odata.deltaLink", "__delta":
        survey.deltaLink = value.kind == .string ? scanner.string(value) : nil
        _ = try scanner.skip(value)
      case "@odata.nextLink", "@nextLink", "odata.nextLink", "__next":
        hasNext = true
        _ = try scanner.skip(value)
      default:
        holdsOther = holdsOther || !text.hasPrefix("@")
        _ = try scanner.skip(value)
      }
    }
    // An entity may have a property with this name, beside others.
    survey.isErrorOrPage = holdsError && !holdsOther && rows == nil
    // V2 deltas in JSON carry no deletions: an empty one proves nothing. V4 deltas mark their end with a delta link.
    survey.isEmptyDelta = isDelta && survey.format == .jsonV4 && rows == 0 && !hasNext && survey.deltaLink != nil
    if hasNext { survey.deltaLink = nil }
    return survey
  }

  /// Whether the object that begins has a code or a message (OData JSON Format 4.01 §21).
  private static func isError(_ scanner: inout JSONScanner) throws(JSONError) -> Bool {
    var isError = false
    while let name = try scanner.next(), name.kind == .name {
      let text = scanner.string(name)
      isError = isError || text == "code" || text == "message"
      guard let value = try scanner.next() else { break }
      _ = try scanner.skip(value)
    }
    return isError
  }

  private static func countedItems(_ scanner: inout JSONScanner) throws(JSONError) -> Int {
    var count = 0
    while let item = try scanner.next(), item.kind != .endArray {
      count += 1
      _ = try scanner.skip(item)
    }
    return count
  }
}
