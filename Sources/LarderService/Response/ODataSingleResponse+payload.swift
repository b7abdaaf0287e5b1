import LarderHTTP
public import LarderOData
import LarderODataXML

extension ODataSingleResponse {
  /// The content as values: JSON of any version, Atom and XML, or text, by its media type and version fields.
  ///
  /// A response without content is the null value. Text and bytes in no OData format (`$value`) are one value; the text
  /// of `$count` is a count. Throws ``ODataServiceError`` (`malformedResponse`) with the place.
  ///
  /// - Parameter model: gives values their declared types; nil uses the service's model, if it was known when the
  ///   response arrived. Without a model, numbers keep their digits and text stays text.
  public func payload(model: EdmModel? = nil) throws(ODataServiceError) -> ODataPayload {
    try payload(model: model, rowType: nil)
  }

  /// The content as values; rows have the given type if neither the URL nor the content shows another.
  func payload(model: EdmModel?, rowType: String?) throws(ODataServiceError) -> ODataPayload {
    guard !payloadBytes.isEmpty else { return .property(ODataPropertyPayload(value: .null)) }
    var options = options(model)
    if let rowType, options.expectedType == nil {
      options.expected = .collection
      options.expectedType = .named(rowType)
    }
    do {
      switch PayloadForm(self) {
      case .json: return try ODataPayload(json: payloadBytes, options: options)
      case .xml:
        return try ODataPayload(
          atom: payloadBytes, model: options.model, type: options.expectedType?.description)
      case .count: return try ODataPayload(countText: payloadBytes)
      case .text: return .property(ODataPropertyPayload(value: .string(try text())))
      case .bytes: return .property(ODataPropertyPayload(value: .binary(payloadBytes)))
      case .multipart:
        throw ODataServiceError(.malformedResponse("a batch response has no single payload"), operation: "decode")
      }
    } catch let error as ODataServiceError {
      throw error
    } catch {
      throw ODataServiceError(
        .malformedResponse(PayloadForm.location(error)), operation: "decode", url: url, cause: error)
    }
  }

  /// The messages that accompany the response (SAP: `sap-message` of V2, `sap-messages` of V4), in their order.
  public var messages: [ODataMessage] {
    get throws(ODataServiceError) {
      do throws(PayloadError) {
        var messages: [ODataMessage] = []
        for header in fields.values(of: .sapMessage) { messages.append(try ODataMessage(sapMessage: header)) }
        for header in fields.values(of: .sapMessages) {
          messages += try ODataMessage.messages(sapMessages: header)
        }
        return messages
      } catch {
        throw ODataServiceError(
          .malformedResponse(PayloadForm.location(error)), operation: "decode", url: url, cause: error)
      }
    }
  }

  /// The options that follow from the URL and the fields.
  func options(_ model: EdmModel?) -> PayloadOptions {
    let model = self.model ?? model ?? serviceModel
    var options = PayloadOptions(
      model: model, url: url, status: httpStatus, version: version, contentType: fields[.contentType])
    // A V2 service may respond in V3, because the request offered it.
    options.protocolVersion = model.map { $0.version < .v4 && version == .v3 ? .v3 : $0.version }
    return options
  }

  /// The content as text; throws if it is not UTF-8.
  private func text() throws(ODataServiceError) -> String {
    guard let text = String(validating: payloadBytes, as: UTF8.self) else {
      throw ODataServiceError(.malformedResponse("the text is not valid UTF-8"), operation: "decode", url: url)
    }
    return text
  }
}

/// The format of a content, from its media type, or from its first byte if the service gives none.
enum PayloadForm: Sendable, Hashable {
  case json, xml, count, text, bytes, multipart

  init(_ response: ODataSingleResponse) {
    let type = (response.fields[.contentType] ?? "").prefix { $0 != ";" && $0 != "," }.lowercased()
    let kind = RequestFields.Kind(path: response.url)
    switch type.filter({ $0 != " " }) {
    case "application/json", "text/json", "application/x-json": self = .json
    case let type where type.hasSuffix("+json"): self = .json
    case "application/xml", "text/xml", "application/atom+xml", "application/atomsvc+xml": self = .xml
    case let type where type.hasPrefix("multipart/"): self = .multipart
    case "text/plain": self = kind == .count ? .count : .text
    case let type where type.hasPrefix("text/"): self = .text
    case "": self = PayloadForm.sniffed(response.payloadBytes, kind)
    default: self = .bytes
    }
    if kind == .raw, self == .json || self == .xml { self = .text }
  }

  private static func sniffed(_ bytes: [UInt8], _ kind: RequestFields.Kind) -> PayloadForm {
    if kind == .count { return .count }
    if kind == .raw { return .bytes }
    switch bytes.first(where: { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }) {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
    case UInt8(ascii: "<"): return .xml
    default: return .bytes
    }
  }

  /// Where a reader stopped and why, without the payload's values.
  static func location(_ error: any Error) -> String {
    switch error {
    case let error as PayloadError:
      if case .inStreamError(let problem) = error.problem {
        let code = problem.code.isEmpty ? "" : " [\(problem.code)]"
        let message = ErrorText.line(problem.fullMessage).map { ": " + $0 } ?? ""
        return "the service ended its response with an error, at byte \(error.offset)\(code)\(message)"
      }
      return error.description
    default: return String(describing: error)
    }
  }
}
