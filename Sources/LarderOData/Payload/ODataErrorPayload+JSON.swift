// Reads errors from JSON: V4 and V2 `error`, V3 `odata.error`, with SAP's members (OData JSON Format 4.01 §21).
extension ODataErrorPayload {
  /// The value of the member `error`; nil if it is not an error: not an object, or one without code and message.
  ///
  /// - Throws: ``ODataValueError`` for a number with more digits than the limit.
  init?(node: JSONNode) throws(ODataValueError) {
    guard case .object(let members) = node, node["code"] != nil || node["message"] != nil else { return nil }
    self.init(code: node["code"]?.text ?? "", message: "")
    for member in members {
      switch member.name {
      case "code": break
      case "message": readMessage(member.value)
      case "target": target = member.value.text
      case "details": for item in member.value.items ?? [] { details.append(try Detail(node: item)) }
      case "innererror", "innerError": try readInner(member.value)
      default:
        let term = member.name.hasPrefix("@") ? String(member.name.dropFirst()) : member.name
        annotations.append(ODataAnnotation(term: term, value: try ODataValue(untyped: member.value)))
      }
    }
  }

  private mutating func readMessage(_ node: JSONNode) {
    if case .object = node {
      message = node["value"]?.text ?? ""
      messageLanguage = node["lang"]?.text
    } else {
      message = node.text ?? ""
    }
  }

  private mutating func readInner(_ node: JSONNode) throws(ODataValueError) {
    if node != .null { innerError = try ODataValue(untyped: node) }
    transactionID = node["transactionid"]?.text ?? node["transactionId"]?.text
    for member in node["Error_Resolution"]?.members ?? [] {
      errorResolution.append(ODataProperty(member.name, try ODataValue(untyped: member.value)))
    }
    // Some services wrap the list in an object of one member.
    let list = node["errordetails"]
    for item in list?.items ?? list?["errordetail"]?.items ?? [] { details.append(try Detail(node: item)) }
  }
}

extension ODataErrorPayload.Detail {
  init(node: JSONNode) throws(ODataValueError) {
    self.init(code: node["code"]?.text ?? "", message: node["message"]?.text ?? node["message"]?["value"]?.text ?? "")
    for member in node.members ?? [] {
      let name = member.name.hasPrefix("@") ? String(member.name.dropFirst()) : member.name
      switch name {
      case "code", "message": break
      case "target", "propertyref": if let text = member.value.text, !text.isEmpty { target = target ?? text }
      case "severity", "Common.numericSeverity", "SAP__common.numericSeverity",
        "com.sap.vocabularies.Common.v1.numericSeverity":
        severity = severity ?? member.value.text.map(ODataMessage.Severity.init(_:))
      case "longtext_url", "Common.longtextUrl", "SAP__common.longtextUrl",
        "com.sap.vocabularies.Common.v1.longtextUrl":
        longTextURL = member.value.text
      default: annotations.append(ODataAnnotation(term: name, value: try ODataValue(untyped: member.value)))
      }
    }
  }
}
