"""The shop's behaviour: odatapy's in-memory processor, and what it lacks: containment, streams, operations."""

import json
import re
from decimal import Decimal

from odatapy.data import EntityCollection
from odatapy.errors import ODataApplicationException
from odatapy.server.deserializer.json_deserializer import ODataJsonDeserializer
from odatapy.server.inmemory import InMemoryDataStore, InMemoryProcessor
from odatapy.server.processor import ActionProcessor, CustomETagSupport
from odatapy.server.serializer.json_serializer import (
    EntityCollectionSerializerOptions, EntitySerializerOptions,
)
from odatapy.edm.names import FullQualifiedName

from . import data
from .model import SHOP


class ContainedSet:
    """The entities below one owner, with the face of an entity set."""

    def __init__(self, owner_path, nav, bindings):
        self.name = f"{owner_path}/{nav.name}"
        self.entity_type = nav.type
        self.bindings = bindings

    def get_binding_target(self, name):
        return self.bindings.get(name)


class ShopETags(CustomETagSupport):
    """Everything that can change has a version, but for the documents and the set of all types."""

    def has_etag(self, entity_set):
        return self.versioned(entity_set.name.split("(")[0])

    @staticmethod
    def versioned(name):
        return name in ("Products", "Categories", "Suppliers", "Orders", "Shop")


class ShopProcessor(InMemoryProcessor, ActionProcessor):
    def __init__(self, root, page_size, short_names):
        super().__init__(InMemoryDataStore(), page_size, short_control_names=short_names)
        self.root = root
        self.owner_path = ""
        self.more_pages = False
        self.photos = {}
        self.store.declare_key_auto_generating("Products", "Categories", "Orders", "Documents", "AllTypes")
        self.register_function("Cheapest", lambda target, part: min(self.products(), key=lambda p: p.get_value("Price")))
        self.register_function("Below", self.below)
        self.register_function("HeadOffice", lambda target, part: self.store.entities("Shop")[0].get_value("Address"))
        self.register_function("Echo", lambda target, part: next(iter(part.typed_parameters.values()), None))
        self.register_function("PriceIn", lambda target, part:
                               target.entity.get_value("Price") * Decimal(str(part.typed_parameters["factor"])))
        self.register_function("InStock", lambda target, part:
                               [p for p in target.entities if p.get_value("Stock") > 0])
        self.register_function("Total", self.total)

    # --- data

    def products(self):
        return self.store.entities("Products")

    def fill(self, seed, count):
        """Puts the data in, read from JSON by the framework as if a client had sent it."""
        def put(name, type_name, body, path=None):
            entity = read(type_name, body)
            if ShopETags.versioned(name):
                entity.etag = 'W/"1"'
            self.store.insert_entity(path or name, entity)
            return entity

        edm = self.service_metadata.edm

        def read(type_name, body):
            entity_type = edm.get_entity_type(FullQualifiedName(SHOP, type_name))
            return ODataJsonDeserializer().entity(edm, entity_type, json.dumps(body).encode())

        def key(name, entity):
            owner_set = edm.get_entity_set(name)
            return self._key_of(owner_set, entity)

        categories = {row["ID"]: put("Categories", "Category", row) for row in data.CATEGORIES}
        suppliers = [put("Suppliers", "Supplier", row) for row in data.SUPPLIERS]
        for row, category, supplier in data.products(seed, count):
            product = put("Products", "Product", row)
            mine = key("Products", product)
            self.store.set_relation("Products", mine, "Category", [categories[category]])
            self.store.add_relation("Categories", key("Categories", categories[category]), "Products", product)
            if supplier is None:
                self.store.set_relation("Products", mine, "Supplier", [])
            else:
                self.store.set_relation("Products", mine, "Supplier", [suppliers[supplier]])
                self.store.add_relation("Suppliers", key("Suppliers", suppliers[supplier]), "Products", product)
        for row, items in data.ORDERS:
            order = put("Orders", "Order", row)
            self.store.set_relation("Orders", key("Orders", order), "Items", [])
            for body in items:
                item = put("Orders", "OrderItem", body, path=f"Orders({row['ID']})/Items")
                item.id = f"{self.root}/Orders({row['ID']})/Items({body['Position']})"
                self.store.add_relation("Orders", key("Orders", order), "Items", item)
                product = next(p for p in self.products() if p.get_value("ID") == body["ProductID"])
                self.store.set_relation(
                    f"Orders({row['ID']})/Items", repr(body["Position"]), "Product", [product])
        shop = put("Shop", "ShopInfo", data.SHOP)
        self.store.set_relation("Shop", repr(shop.get_value("Name")), "Favourite", [self.products()[0]])
        for row in data.ALL_TYPES:
            put("AllTypes", "AllTypes", row)
        for row in data.samples(seed):
            put("Samples", "Sample", row)
        rows = data.shelves(seed, len(self.products()))
        shelves = [put("Shelves", "Shelf", row) for row, _, _ in rows]
        for shelf, (_, stock, following) in zip(shelves, rows):
            mine = key("Shelves", shelf)
            self.store.set_relation("Shelves", mine, "Products", [])
            after = [shelves[following]] if following is not None and following < len(shelves) else []
            self.store.set_relation("Shelves", mine, "Next", after)
            for number in sorted(stock):
                product = self.products()[number]
                self.store.add_relation("Shelves", mine, "Products", product)
                self.store.add_relation("Products", key("Products", product), "Shelves", shelf)
        for product in self.products():
            number = key("Products", product)
            if self.store.relation("Products", number, "Shelves") is None:
                self.store.set_relation("Products", number, "Shelves", [])
        document = put("Documents", "Document", {"ID": 1, "Title": "Price list"})
        document.media_content = "Flour 2.95\nSalt 0.80\n".encode()
        document.media_content_type = "text/plain;charset=UTF-8"
        document.media_etag = 'W/"1"'
        self.photos[1] = (data.PHOTO, "image/png")

    # --- containment

    def _step_navigation(self, request, target, part, *, for_write):
        owner_set = target.entity_set or self._singleton_set(target)
        if owner_set is not None and target.entity is not None and part.navigation_property.contains_target:
            self._ensure_id(request, owner_set, target.entity)
            self.owner_path = self.path_of(target.entity)
        super()._step_navigation(request, target, part, for_write=for_write)

    def _process_deep_insert(self, request, entity_set, entity, owner=None):
        self._ensure_id(request, entity_set, owner or entity)
        self.owner_path = self.path_of(owner or entity)
        super()._process_deep_insert(request, entity_set, entity, owner)

    def _materialise_path(self, request, entity_set, entities, names, item, uri_info, ctx=None):
        # One owner at a time: each has contained sets of its own, and stands in one of its own where it is contained.
        for entity in entities:
            own_set = self.set_of(entity_set, entity)
            self._ensure_id(request, own_set, entity)
            self.owner_path = self.path_of(entity)
            super()._materialise_path(request, own_set, [entity], names, item, uri_info, ctx)

    def _targets_of(self, request, entity_set, entities, nav_name):
        targets = []
        for entity in entities:
            targets += super()._targets_of(request, self.set_of(entity_set, entity), [entity], nav_name)
        return targets

    def set_of(self, entity_set, entity):
        """The set that an entity stands in: of contained ones, what they have in common names only one owner's."""
        if not isinstance(entity_set, ContainedSet):
            return entity_set
        return self._owner_set(self.path_of(entity).rpartition("(")[0])

    def _entity_set_index(self):
        # For paths in expressions: the framework knows the container's sets alone.
        index = super()._entity_set_index()
        with self.store.lock:
            for name in self.store.data:
                if "/" in name:
                    index.update((id(entity), name) for entity in self.store.entities(name))
        return index

    def _owner_set(self, name):
        owner_path, _, nav_name = name.rpartition("/")
        if not owner_path:
            return super()._owner_set(name)
        owner_set = super()._owner_set(owner_path.partition("(")[0])
        return self.contained_set(owner_path, owner_set.entity_type.get_navigation_property(nav_name))

    def _nav_target_set(self, owner_set, nav_name):
        nav = owner_set.entity_type.get_navigation_property(nav_name)
        if nav is not None and nav.contains_target:
            return self.contained_set(self.owner_path, nav)
        return super()._nav_target_set(owner_set, nav_name)

    def contained_set(self, owner_path, nav):
        return ContainedSet(owner_path, nav, {"Product": "Products"})

    # --- $expand: the framework leaves what it put in line on the stored entities, and later filters would see only that

    def read_entity_collection(self, request, response, uri_info, ct):
        try:
            super().read_entity_collection(request, response, uri_info, ct)
        finally:
            self.forget_expanded()

    def read_entity(self, request, response, uri_info, ct):
        try:
            super().read_entity(request, response, uri_info, ct)
        finally:
            self.forget_expanded()

    def forget_expanded(self):
        with self.store.lock:
            for entities in self.store.data.values():
                for entity in entities:
                    entity.navigation_links = []

    def path_of(self, entity):
        return (entity.id or "").removeprefix(self.root + "/")

    # --- deltas: the link comes with the last page only (Protocol 11.3.1)

    def _page(self, request, uri_info, entities, prefs, entity_set=None):
        page = super()._page(request, uri_info, entities, prefs, entity_set)
        self.more_pages = page[0] is not None
        return page

    def _delta_link(self, request):
        return None if self.more_pages else super()._delta_link(request)

    def _read_delta(self, request, response, uri_info, target, ct):
        self.more_pages = False
        super()._read_delta(request, response, uri_info, target, ct)

    # --- streams

    def read_primitive(self, request, response, uri_info, ct):
        part = uri_info.resource_parts[-1]
        if part.property.type_fqn != "Edm.Stream":
            super().read_primitive(request, response, uri_info, ct)
            return
        with self.store.lock:
            entity = self._require_entity(self._resolve(request, uri_info, for_write=True))
            photo = self.photos.get(entity.get_value("ID"))
        if photo is None:
            response.set_status(204)
        else:
            response.set_content(*photo)
            response.set_status(200)

    def put_photo(self, number, content, content_type):
        """The framework takes no raw content for a stream property: the HTTP side calls this instead."""
        with self.store.lock:
            if all(product.get_value("ID") != number for product in self.products()):
                return False
            self.photos[number] = (content, content_type)
            return True

    # --- operations

    def below(self, target, part):
        return [p for p in self.products() if p.get_value("Price") < Decimal(str(part.typed_parameters["price"]))]

    def total(self, target, part):
        items = self.store.relation("Orders", repr(target.entity.get_value("ID")), "Items") or []
        return sum((i.get_value("Quantity") * i.get_value("Price") for i in items), Decimal(0))

    def process_action(self, request, response, uri_info, request_ct, response_ct):
        with self.store.lock:
            parts = uri_info.resource_parts
            action = parts[-1].action
            arguments = ODataJsonDeserializer().action_parameters(
                self.service_metadata.edm, action, request.body or b"{}")
            name = action.full_qualified_name.name
            if name == "EmptyShelves":
                for product in self.products():
                    self.change(product, "Stock", 0)
                response.set_status(204)
            elif name == "Discontinue":
                wanted = set(arguments["ids"].value)
                gone = [p for p in self.products() if p.get_value("ID") in wanted]
                for product in gone:
                    self._ensure_id(request, self.product_set, product)
                    self.store.remove_entity("Products", product)
                    self.store.record_change("Products", product, "deleted")
                self.answer_products(request, response, response_ct, gone)
            elif name == "Restock":
                target = self._walk(request, parts[:-1], for_write=True)
                product = self._require_entity(target)
                amount = arguments["amount"].value
                if amount < 0:
                    raise ODataApplicationException("The amount is negative.", 422, code="NegativeAmount")
                self.change(product, "Stock", product.get_value("Stock") + amount)
                self.answer_product(request, response, response_ct, product)
            else:
                raise ODataApplicationException(f"No action {name}.", 501)

    @property
    def product_set(self):
        return self.service_metadata.edm.get_entity_set("Products")

    def change(self, product, name, value):
        product.get_property(name).value = value
        self._bump_etag(self.product_set, product)
        self.store.record_change("Products", product, "changed")

    def answer_product(self, request, response, ct, product):
        options = EntitySerializerOptions(
            context_url=self._context(request, "Products/$entity"), service_version=self._version(request))
        body = self._serializer(ct, request).entity(
            self.service_metadata.edm, self.product_set.entity_type, product, options)
        self._write(request, response, body, ct)
        etag = self._etag_of(self.product_set, product)
        if etag:
            response.set_header("ETag", etag)

    def answer_products(self, request, response, ct, products):
        options = EntityCollectionSerializerOptions(
            context_url=self._context(request, "Products"), service_version=self._version(request))
        body = self._serializer(ct, request).entity_collection(
            self.service_metadata.edm, self.product_set.entity_type, EntityCollection(entities=products), options)
        self._write(request, response, body, ct)


PHOTO_PATH = re.compile(r"Products\((\d+)\)/Photo(?:/\$value)?$")
