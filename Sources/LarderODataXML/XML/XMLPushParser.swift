import CLarderXML2

/// A wrapper of libxml2's SAX2 push parser: it takes bytes and calls a handler with events; no tree is built.
///
/// It reads every encoding that libxml2 knows (UTF-8, UTF-16, ISO 8859-1 and what iconv adds), by byte order mark or
/// XML declaration. A document type declaration is rejected before anything in it is read, so a document cannot define
/// entities. Not `Sendable`: use it in one task at a time.
@safe final class XMLPushParser {
  /// The size of the pieces in which bytes are passed to libxml2; limits are checked between pieces.
  private static let slice = 1 << 16
  /// The most attributes in a tag that is longer than a slice: libxml2 compares each with all others.
  private static let attributeBound = 4096

  private let handler: any XMLContentHandler
  private let limits: XMLLimits
  // The context lives from init to deinit. Only this object's methods and the callbacks they cause use it.
  private let context: xmlParserCtxtPtr
  private var names: [UInt: String] = [:]
  private var length = 0
  private var pending = 0
  private var pendingEquals = 0
  private var events = 0
  private var head: [UInt8]? = []
  private var skippedLines = 0
  private(set) var depth = 0
  private(set) var hasRoot = false
  private var isFinishing = false
  private var failure: (any Error)?

  /// Creates a parser for one document.
  init(handler: any XMLContentHandler, limits: XMLLimits) throws(XMLFailure) {
    self.handler = handler
    self.limits = limits
    xmlInitParser()
    var sax = unsafe xmlSAXHandler()
    // The callbacks are plain functions; libxml2 copies the structure.
    unsafe larder_xml_init_handler(&sax)
    unsafe sax.startElementNs = xmlStartElement
    unsafe sax.endElementNs = xmlEndElement
    unsafe sax.characters = xmlCharacters
    unsafe sax.ignorableWhitespace = xmlCharacters
    unsafe sax.cdataBlock = xmlCharacters
    unsafe sax.comment = xmlComment
    unsafe sax.processingInstruction = xmlProcessingInstruction
    unsafe sax.internalSubset = xmlDocumentType
    unsafe larder_xml_set_error_handler(&sax, xmlReport)
    guard let context = unsafe xmlCreatePushParserCtxt(&sax, nil, nil, 0, nil) else {
      throw XMLFailure(reason: .tooLong(limit: 0), message: "libxml2 could not allocate a parser", line: 0, column: 0)
    }
    unsafe self.context = context
    unsafe xmlCtxtUseOptions(context, larder_xml_options())
    // Unretained: the context is freed with this object.
    unsafe context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    unsafe xmlFreeParserCtxt(context)
  }

  /// Parses the next bytes of the document.
  func push(_ bytes: [UInt8]) throws {
    if let failure { throw failure }
    guard bytes.count <= limits.documentByteLimit - length else {
      let message = "the document is longer than \(limits.documentByteLimit) bytes"
      throw fail(.tooLong(limit: limits.documentByteLimit), message)
    }
    length += bytes.count
    guard let buffered = head else { return try parse(bytes[...]) }
    let all = buffered + bytes
    guard let start = leadingEnd(of: all) else {
      head = all
      return
    }
    head = nil
    try parse(start)
  }

  /// Ends the document.
  func finish() throws {
    if let failure { throw failure }
    if let buffered = head {
      head = nil
      guard buffered.contains(where: { !isSpace($0) }) else { throw fail(.empty, "there is no content") }
      try parse(buffered[...])
    }
    isFinishing = true
    unsafe xmlParseChunk(context, nil, 0, 1)
    if let failure { throw failure }
    guard unsafe context.pointee.wellFormed != 0, hasRoot, depth == 0 else {
      throw fail(.truncated, "the document ends before its root element does")
    }
  }

  /// The position of the parser: line and column from 1.
  var position: (line: Int, column: Int) {
    unsafe (
      Int(xmlSAX2GetLineNumber(UnsafeMutableRawPointer(context))) + skippedLines,
      Int(xmlSAX2GetColumnNumber(UnsafeMutableRawPointer(context)))
    )
  }

  private func parse(_ bytes: ArraySlice<UInt8>) throws {
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(XMLPushParser.slice)
      rest = rest.dropFirst(piece.count)
      let before = events
      // The bytes outlive the call; libxml2 copies what it keeps.
      unsafe piece.withUnsafeBytes { buffer in
        let start = unsafe buffer.bindMemory(to: CChar.self).baseAddress
        unsafe _ = xmlParseChunk(context, start, Int32(buffer.count), 0)
      }
      if let failure { throw failure }
      guard unsafe context.pointee.wellFormed != 0 else { throw fail(.malformed, "the document is not well-formed") }
      try checkPending(piece, hadEvents: events != before)
    }
  }

  /// Limits what libxml2 may buffer without an event: one tag, comment or declaration that does not end.
  private func checkPending(_ piece: ArraySlice<UInt8>, hadEvents: Bool) throws {
    if hadEvents {
      pending = 0
      pendingEquals = 0
      return
    }
    pending += piece.count
    if pending > limits.tokenByteLimit {
      let message = "a tag, comment or declaration is longer than \(limits.tokenByteLimit) bytes"
      throw fail(.tokenTooLong(limit: limits.tokenByteLimit), message)
    }
    guard pending >= XMLPushParser.slice else { return }
    pendingEquals += piece.reduce(0) { $1 == 0x3D ? $0 + 1 : $0 }
    if pendingEquals > XMLPushParser.attributeBound {
      let message = "a tag has more than \(XMLPushParser.attributeBound) attributes"
      throw fail(.tokenTooLong(limit: XMLPushParser.attributeBound), message)
    }
  }

  /// Returns the bytes from the first one that belongs to the document; nil until there are enough bytes to know.
  ///
  /// White space before the XML declaration is not XML, but some products send it: it is skipped and reported.
  private func leadingEnd(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
    guard bytes.count >= 4 else { return nil }
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard let start = bytes[mark...].firstIndex(where: { !isSpace($0) }) else { return nil }
    guard start > mark else { return bytes[...] }
    skippedLines = bytes[..<start].reduce(0) { $1 == 0x0A ? $0 + 1 : $0 }
    handler.warning("there is white space before the document", line: 1, column: 1)
    return bytes[start...]
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  private func fail(_ reason: XMLFailure.Reason, _ message: String) -> any Error {
    if let failure { return failure }
    let place = position
    let error = XMLFailure(reason: reason, message: message, line: place.line, column: place.column)
    failure = error
    return error
  }
}

// The callbacks' implementations. Each runs inside `xmlParseChunk`, on the caller's task.
extension XMLPushParser {
  /// Stops libxml2; the failure is thrown when it returns.
  private func stop(_ error: any Error) {
    if failure == nil { failure = error }
    unsafe xmlStopParser(context)
  }

  private func attempt(_ body: () throws -> Void) {
    guard failure == nil else { return }
    events &+= 1
    do { try body() } catch { stop(error) }
  }

  /// Names are entries of the context's dictionary: each name has one pointer for the lifetime of the context.
  private func name(_ pointer: UnsafePointer<xmlChar>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    let entry = UInt(bitPattern: pointer)
    if let name = names[entry] { return name }
    let name = unsafe String(cString: pointer)
    names[entry] = name
    return name
  }

  fileprivate func startElement(
    _ local: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?,
    _ count: Int, _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
  ) {
    attempt {
      // All complete tags were parsed before the end was announced, so this tag is truncated.
      if isFinishing { throw fail(.truncated, "the document ends inside a tag") }
      hasRoot = true
      depth += 1
      if depth > limits.depth {
        throw fail(.tooDeep(limit: limits.depth), "elements are nested more than \(limits.depth) deep")
      }
      let place = position
      var element = unsafe XMLElement(
        name: XMLName(namespace: name(namespace), prefix: name(prefix), local: name(local)), attributes: [],
        line: place.line, column: place.column)
      if let attributes = unsafe attributes {
        element.attributes.reserveCapacity(count)
        // Each attribute is five pointers: local name, prefix, namespace, begin and end of the value.
        for item in 0..<count {
          let fields = unsafe attributes + item * 5
          let name = unsafe XMLName(namespace: name(fields[2]), prefix: name(fields[1]), local: name(fields[0]))
          unsafe element.attributes.append(XMLAttribute(name: name, value: text(from: fields[3], to: fields[4])))
        }
      }
      try handler.start(element)
    }
  }

  private func text(from start: UnsafePointer<xmlChar>?, to end: UnsafePointer<xmlChar>?) -> String {
    guard let start = unsafe start, let end = unsafe end else { return "" }
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
  }

  fileprivate func endElement(
    _ local: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?, _ namespace: UnsafePointer<xmlChar>?
  ) {
    attempt {
      depth -= 1
      try unsafe handler.end(
        XMLName(namespace: name(namespace), prefix: name(prefix), local: name(local)))
    }
  }

  fileprivate func characters(_ start: UnsafePointer<xmlChar>?, _ count: Int) {
    attempt {
      guard let start = unsafe start else { return }
      // The bytes are valid only during the callback.
      let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
      if handler.wantsText { return try unsafe handler.text(String(decoding: bytes, as: UTF8.self)) }
      guard unsafe !bytes.allSatisfy(isSpace) else { return }
      let place = position
      handler.unexpectedText(line: place.line, column: place.column)
    }
  }

  fileprivate func countEvent() { events &+= 1 }

  fileprivate func documentType(_ name: UnsafePointer<xmlChar>?) {
    let name = unsafe self.name(name)
    stop(fail(.documentType(name: name), "the document has a document type declaration (\(name))"))
  }

  fileprivate func report(_ error: UnsafePointer<xmlError>) {
    guard failure == nil else { return }
    let text = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "unknown error"
    var message = String(text.split(separator: "\n").first ?? "unknown error")
    let line = unsafe Int(error.pointee.line) + skippedLines
    let column = unsafe Int(error.pointee.int2)
    guard unsafe error.pointee.level == XML_ERR_FATAL else {
      handler.warning(message, line: line, column: column)
      return
    }
    let code = unsafe xmlParserErrors(UInt32(bitPattern: error.pointee.code))
    let reason: XMLFailure.Reason
    if code == XML_ERR_DOCUMENT_EMPTY, length > 0 { message = "the document does not begin with an XML element" }
    switch code {
    case XML_ERR_UNSUPPORTED_ENCODING, XML_ERR_UNKNOWN_ENCODING: reason = .encoding
    case _ where isFinishing && !(hasRoot && depth == 0): reason = .truncated
    default: reason = .malformed
    }
    stop(XMLFailure(reason: reason, message: message, line: line, column: column))
  }
}

// The plain functions that libxml2 calls; `user` is the parser, which lives for the whole call.

private func parser(_ user: UnsafeMutableRawPointer?) -> XMLPushParser? {
  guard let user = unsafe user else { return nil }
  return unsafe Unmanaged<XMLPushParser>.fromOpaque(user).takeUnretainedValue()
}

private func xmlStartElement(
  _ user: UnsafeMutableRawPointer?, _ local: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?,
  _ namespace: UnsafePointer<xmlChar>?, _ namespaceCount: Int32,
  _ namespaces: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ attributeCount: Int32, _ defaulted: Int32,
  _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
) {
  unsafe parser(user)?.startElement(local, prefix, namespace, Int(attributeCount), attributes)
}

private func xmlEndElement(
  _ user: UnsafeMutableRawPointer?, _ local: UnsafePointer<xmlChar>?, _ prefix: UnsafePointer<xmlChar>?,
  _ namespace: UnsafePointer<xmlChar>?
) {
  unsafe parser(user)?.endElement(local, prefix, namespace)
}

private func xmlCharacters(_ user: UnsafeMutableRawPointer?, _ start: UnsafePointer<xmlChar>?, _ count: Int32) {
  unsafe parser(user)?.characters(start, Int(count))
}

private func xmlComment(_ user: UnsafeMutableRawPointer?, _ text: UnsafePointer<xmlChar>?) {
  unsafe parser(user)?.countEvent()
}

private func xmlProcessingInstruction(
  _ user: UnsafeMutableRawPointer?, _ target: UnsafePointer<xmlChar>?, _ data: UnsafePointer<xmlChar>?
) {
  unsafe parser(user)?.countEvent()
}

private func xmlDocumentType(
  _ user: UnsafeMutableRawPointer?, _ name: UnsafePointer<xmlChar>?, _ externalID: UnsafePointer<xmlChar>?,
  _ systemID: UnsafePointer<xmlChar>?
) {
  unsafe parser(user)?.documentType(name)
}

private func xmlReport(_ user: UnsafeMutableRawPointer?, _ error: UnsafePointer<xmlError>?) {
  guard let error = unsafe error else { return }
  unsafe parser(user)?.report(error)
}
