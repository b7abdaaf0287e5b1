import LarderOData
import LarderODataXML
import Testing

@Suite("Atom: entries and feeds", .timeLimit(.minutes(5)))
struct AtomEntryTests {
  @Test("Elements of feeds, service documents and tombstones are not properties, on any level")
  func foreignElements() throws {
    let foreign = """
      <title>t</title><a:collection xmlns:a="http://www.w3.org/2007/app" href="h"><a:accept>x</a:accept></a:collection>\
      <t:deleted-entry xmlns:t="http://purl.org/atompub/tombstones/1.0" ref="r"/>
      """
    let entity = try AtomText.entity(
      AtomText.entry(
        "\(foreign)<d:A><d:B>1</d:B>\(foreign)</d:A>"
          + "<d:C m:type='Collection(Edm.String)'>\(foreign)<d:element>x</d:element></d:C>"))
    #expect(
      entity.properties == [
        ODataProperty("A", .complex(ODataComplexValue(properties: [ODataProperty("B", .string("1"))]))),
        ODataProperty("C", .collection([.string("x")])),
      ])
  }

  private static let related = AtomText.related
  private static let root = "http://schemas.microsoft.com/ado/2007/08/dataservices/"

  @Test("An entry with links, streams, ETag and media ([MS-ODATA] §2.2.6.2.2; V3)")
  func entry() throws {
    let entity = try AtomText.entity(
      """
      <entry \(AtomText.second) m:etag="W/&quot;1&quot;"><id>http://h/s/Ps(1)</id><title type="text">T</title>
      <updated>2012-02-24T09:39:04Z</updated><author><name/></author>
      <category term="NS.P" scheme="\(Self.root)scheme"/><link rel="edit" title="P" href="Ps(1)"/><link rel="self" href="/s/Ps(1)"/>
      <link rel="edit-media" href="Ps(1)/$value" m:etag="m1"/>
      <link rel="\(Self.root)related/Customer" type="application/atom+xml;type=entry" title="Customer" href="Ps(1)/Customer"/>
      <link rel="\(Self.root)relatedlinks/Customer" href="Ps(1)/$links/Customer"/>
      <link rel="\(Self.root)mediaresource/Photo" type="image/png" href="http://x/p"/>
      <link rel="\(Self.root)edit-media/Photo" href="Ps(1)/Photo" m:etag="p1"/>
      <content type="image/jpeg" src="Ps(1)/$value"/><m:properties><d:ID m:type="Edm.Int32">1</d:ID></m:properties>
      <m:action metadata="http://h/s/$metadata#C.Do" title="Do it" target="Ps(1)/Do"/></entry>
      """)
    #expect(entity.typeName == "NS.P" && entity.id == "http://h/s/Ps(1)" && entity.etag == "W/\"1\"")
    #expect(entity.editLink == "http://h/s/Ps(1)" && entity.readLink == "http://h/s/Ps(1)")
    #expect(
      entity.media
        == ODataMediaLink(
          readLink: "http://h/s/Ps(1)/$value", editLink: "http://h/s/Ps(1)/$value", contentType: "image/jpeg",
          etag: "m1"))
    let link = try #require(entity.navigationLink("Customer"))
    #expect(link.url == "http://h/s/Ps(1)/Customer" && link.associationURL == "http://h/s/Ps(1)/$links/Customer")
    #expect(link.content == nil)
    #expect(
      entity.streams == [
        ODataStreamProperty(
          name: "Photo",
          link: ODataMediaLink(
            readLink: "http://x/p", editLink: "http://h/s/Ps(1)/Photo", contentType: "image/png", etag: "p1"))
      ])
    #expect(entity["ID"] == .int32(1) && entity.operations.first?.name == "C.Do")
    #expect(entity.operations.first?.target == "http://h/s/Ps(1)/Do")
    #expect(entity.annotations == [ODataAnnotation(term: "atom.title", value: .string("T"))])
  }

  @Test("A feed with count, next and delta links and inline entries ([MS-ODATA] §2.2.6.2.6, §2.2.6.2.1)")
  func feed() throws {
    let payload = try AtomText.read(
      """
      <feed \(AtomText.second)><m:count>11</m:count><id>http://h/s/Ps</id><title/><link rel="self" href="Ps"/>
      <entry><id>a</id><link rel="\(Self.related)Items" type="application/atom+xml;type=feed" href="a/Items"><m:inline>
        <feed><m:count>2</m:count><entry><id>i</id></entry><link rel="next" href="more"/></feed></m:inline></link>
        <link rel="\(Self.related)One" type="application/atom+xml;type=entry" href="a/One"><m:inline><entry><id>o</id></entry></m:inline></link>
        <link rel="\(Self.related)Nil" type="application/atom+xml;type=entry" href="a/Nil"><m:inline/></link>
        <link rel="\(Self.related)No" type="application/atom+xml;type=feed" href="a/No"><m:inline/></link></entry>
      <entry><id>b</id></entry><link rel="next" href="Ps?$skiptoken=2"/><link rel="delta" href="Ps?!deltatoken='1'"/></feed>
      """)
    guard case .collection(let collection) = payload else { throw AtomText.Unexpected() }
    #expect(collection.count == 11 && collection.entities.map(\.id) == ["http://h/s/a", "http://h/s/b"])
    #expect(
      collection.nextLink == "http://h/s/Ps?$skiptoken=2" && collection.deltaLink == "http://h/s/Ps?!deltatoken='1'")
    #expect(collection.readLink == "http://h/s/Ps")
    let entity = try #require(collection.entities.first)
    guard case .collection(let items)? = entity.navigationLink("Items")?.content else { throw AtomText.Unexpected() }
    #expect(items.entities.map(\.id) == ["http://h/s/i"] && items.count == 2 && items.nextLink == "http://h/s/more")
    #expect(entity.navigationLink("One")?.entity?.id == "http://h/s/o")
    #expect(entity.navigationLink("Nil")?.content == .null && entity.navigationLink("No")?.entities == [])
  }

  @Test("An empty feed is an empty collection")
  func emptyFeed() throws {
    let payload = try AtomText.read("<feed \(AtomText.second)><title/></feed>")
    #expect(payload == .collection(ODataEntityCollection()))
  }

  @Test("Tombstones make a feed a delta (RFC 6721 §3; SAP Gateway's delta feeds)")
  func tombstones() throws {
    let payload = try AtomText.read(
      """
      <feed \(AtomText.second) xmlns:at="http://purl.org/atompub/tombstones/1.0"><entry><id>http://h/s/a</id></entry>
      <at:deleted-entry ref="http://h/s/b" when="2013-02-18T16:36:28Z"/><link rel="delta" href="d"/></feed>
      """)
    guard case .delta(let delta) = payload else { throw AtomText.Unexpected() }
    #expect(delta.items.count == 2 && delta.deltaLink == "http://h/s/d")
    guard case .deletedEntity(let deleted)? = delta.items.last else { throw AtomText.Unexpected() }
    #expect(deleted.id == "http://h/s/b" && deleted.removal == .deleted)
    #expect(deleted.annotations.first?.value == .string("2013-02-18T16:36:28Z"))
  }

  @Test("V4 deltas: reasons, links and deleted links (OData Atom Format 4.0 §14)")
  func fourthDelta() throws {
    let payload = try AtomText.read(
      """
      <feed \(AtomText.fourth) xmlns:at="http://purl.org/atompub/tombstones/1.0" m:context="http://h/s/$metadata#C/$delta">
      <at:deleted-entry ref="C(1)" m:reason="changed"/><m:link source="C(2)" relationship="Orders" target="O(3)"/>
      <m:deleted-link source="C(2)" relationship="Orders" target="O(4)"/></feed>
      """)
    guard case .delta(let delta) = payload else { throw AtomText.Unexpected() }
    guard case .deletedEntity(let deleted)? = delta.items.first else { throw AtomText.Unexpected() }
    #expect(deleted.removal == .changed && delta.context == "http://h/s/$metadata#C/$delta")
    let source = "http://h/s/C(2)"
    #expect(
      Array(delta.items.dropFirst()) == [
        .addedLink(ODataDeltaLink(source: source, relationship: "Orders", target: "http://h/s/O(3)")),
        .deletedLink(ODataDeltaLink(source: source, relationship: "Orders", target: "http://h/s/O(4)")),
      ])
  }

  @Test("Properties that the model maps to Atom elements are read from them ([MS-ODATA] §2.2.3.7.2.1)")
  func feedMappings() throws {
    let model = try CSDLText.read(
      CSDLText.v2(
        """
        <EntityType Name="P" m:FC_TargetPath="SyndicationAuthorName" m:FC_SourcePath="Maker/Name" m:FC_KeepInContent="false">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" m:FC_TargetPath="SyndicationTitle" m:FC_KeepInContent="false"/>
        <Property Name="Text" Type="Edm.String" m:FC_TargetPath="SyndicationSummary" m:FC_KeepInContent="true"/>
        <Property Name="Rank" Type="Edm.Int16" m:FC_TargetPath="x/rank" m:FC_NsUri="urn:x" m:FC_KeepInContent="false"/>
        <Property Name="Mark" Type="Edm.String" m:FC_TargetPath="x/@mark" m:FC_NsUri="urn:x" m:FC_KeepInContent="false"/>
        <Property Name="Maker" Type="NS.Maker"/></EntityType>
        <ComplexType Name="Maker"><Property Name="Name" Type="Edm.String"/></ComplexType>
        """))
    let entity = try AtomText.entity(
      """
      <entry \(AtomText.second)><title type="text">Bread</title><summary>elsewhere</summary><author><name>Ann</name></author>
      <q:x xmlns:q="urn:x" mark="!"><q:rank>7</q:rank></q:x><content type="application/xml"><m:properties>
      <d:ID m:type="Edm.Int32">0</d:ID><d:Text>inside</d:Text></m:properties></content></entry>
      """, model: model, type: "NS.P")
    #expect(entity["Name"] == .string("Bread") && entity["Text"] == .string("inside"))
    #expect(entity["Rank"] == .int16(7) && entity["Mark"] == .string("!"))
    #expect(entity["Maker"] == .complex(ODataComplexValue(properties: [ODataProperty("Name", .string("Ann"))])))
    #expect(entity.annotations.isEmpty && entity.properties.count == 6)
  }

  @Test("V4's instance annotations, on the entity and on a property (OData Atom Format 4.0 §18)")
  func annotations() throws {
    let entity = try AtomText.entity(
      """
      <entry \(AtomText.fourth)><m:annotation term="NS.Flag" bool="true"/><content type="application/xml"><m:properties>
      <d:P>x</d:P></m:properties></content><m:annotation term="NS.Rank" target="P" m:type="Int32">3</m:annotation></entry>
      """)
    #expect(entity.annotations == [ODataAnnotation(term: "NS.Flag", value: .boolean(true))])
    #expect(entity.properties.first?.annotations == [ODataAnnotation(term: "NS.Rank", value: .int32(3))])
  }

  @Test("Types of items and foreign elements are kept, and written back")
  func preserved() throws {
    let entity = try AtomText.entity(
      """
      <entry \(AtomText.second)><g:point xmlns:g="urn:g">1 2</g:point><content type="application/xml"><m:properties>
      <d:L m:type="Collection(NS.C)"><d:element><d:a>x</d:a></d:element></d:L></m:properties></content></entry>
      """)
    #expect(entity.annotations == [ODataAnnotation(term: "atom.element.{urn:g}point", value: .string("1 2"))])
    #expect(
      entity.properties.first?.annotations == [ODataAnnotation(term: "odata.type", value: .string("Collection(NS.C)"))])
    let written = String(decoding: try AtomWriter(version: .v3).entry(entity), as: UTF8.self)
    #expect(written.contains("<d:L m:type=\"Collection(NS.C)\">"))
  }

  @Test(
    "URLs are resolved against xml:base",
    arguments: [
      ("http://h/s/", "P(1)", "http://h/s/P(1)"), ("http://h/s/x", "P(1)", "http://h/s/P(1)"),
      ("http://h", "P(1)", "http://h/P(1)"), ("http://h/s/", "/t/P(1)", "http://h/t/P(1)"),
      ("http://h/s/", "//g/P(1)", "http://g/P(1)"), ("http://h/s/", "https://g/P('a:b')", "https://g/P('a:b')"),
      ("http://h/s/", "P('a:b')", "http://h/s/P('a:b')"), ("http://h/s/?q=/z", "P(1)", "http://h/s/P(1)"),
    ])
  func base(_ base: String, _ href: String, _ expected: String) throws {
    let entity = try AtomText.entity(
      "<entry xmlns='http://www.w3.org/2005/Atom' xml:base='\(base)'><link rel='edit' href=\"\(href)\"/></entry>")
    #expect(entity.editLink == expected)
  }
}
