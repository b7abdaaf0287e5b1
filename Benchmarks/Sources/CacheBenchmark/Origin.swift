import LarderHTTP

/// A server in this process that responds at once, so that only the store is measured.
struct Origin: HTTPTransport {
  let payload: [UInt8]

  static let metadata = """
    <?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">\
    <edmx:DataServices><Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">\
    <EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>\
    </EntityType><EntityContainer Name="C"><EntitySet Name="Rows" EntityType="N.Row"/></EntityContainer></Schema>\
    </edmx:DataServices></edmx:Edmx>
    """

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    var fields: HTTPFields = ["OData-Version": "4.0"]
    if request.url.path.hasSuffix("$metadata") {
      fields[.contentType] = "application/xml"
      return HTTPResponse(
        status: 200, fields: fields, url: request.url, body: HTTPBodyStream(Array(Self.metadata.utf8)))
    }
    fields[.contentType] = "application/json"
    fields[.etag] = "\"1\""
    if request.fields[.ifNoneMatch] == "\"1\"" { return HTTPResponse(status: 304, fields: fields, url: request.url) }
    return HTTPResponse(status: 200, fields: fields, url: request.url, body: HTTPBodyStream(payload))
  }
}
