// SPDX-License-Identifier: MIT

extension MIMETypeTable {
    /// The built-in table: the registered types, and unregistered ones in common use. If Apple's systems and the IANA registry
    /// have different types for a common extension, the table has Apple's.
    static let builtInLines = """
        application/atom+xml atom
        application/calendar+json jcs
        application/cbor cbor
        application/dicom dcm
        application/dns+json dnsj
        application/ecmascript es ecma
        application/emma+xml emma
        application/epub+zip epub
        application/fits fits fit fts
        application/font-tdpfr pfr
        application/geo+json geojson
        application/geopackage+sqlite3 gpkg
        application/gml+xml gml
        application/gpx+xml gpx
        application/gzip gz
        application/hjson hjson
        application/hyperstudio stk
        application/inkml+xml ink inkml
        application/ipfix ipfix
        application/java-archive jar war ear
        application/java-serialized-object ser
        application/java-vm class
        application/json json map
        application/json5 json5
        application/jsonml+json jsonml
        application/ld+json jsonld
        application/lost+xml lostxml
        application/mac-binhex40 hqx
        application/mac-compactpro cpt
        application/mads+xml mads
        application/manifest+json webmanifest
        application/marc mrc
        application/marcxml+xml mrcx
        application/mathematica nb ma mb
        application/mathml+xml mathml
        application/mbox mbox
        application/metalink4+xml meta4
        application/mets+xml mets
        application/mods+xml mods
        application/msword doc dot
        application/mxf mxf
        application/n-quads nq
        application/n-triples nt
        application/oda oda
        application/oebps-package+xml opf
        application/ogg ogx
        application/omdoc+xml omdoc
        application/onenote onetoc onetoc2 onetmp onepkg one
        application/oxps oxps
        application/p2p-overlay+xml relo
        application/patch-ops-error+xml xer
        application/pdf pdf
        application/pgp-encrypted pgp gpg
        application/pgp-signature sig
        application/pics-rules prf
        application/pkcs10 p10
        application/pkcs7-mime p7m p7c
        application/pkcs7-signature p7s
        application/pkcs8 p8
        application/pkix-attr-cert ac
        application/pkix-cert cer
        application/pkix-crl crl
        application/pkix-pkipath pkipath
        application/pkixcmp pki
        application/pls+xml pls
        application/postscript ps eps ai
        application/prs.cww cww
        application/pskc+xml pskcxml
        application/rdf+xml rdf owl
        application/reginfo+xml rif
        application/relax-ng-compact-syntax rnc
        application/resource-lists+xml rl
        application/rss+xml rss
        application/rtf rtf
        application/sbml+xml sbml
        application/sdp sdp
        application/senml+json senml
        application/shf+xml shf
        application/smil+xml smi smil
        application/sparql-query rq
        application/sparql-results+xml srx
        application/sql sql
        application/srgs gram
        application/srgs+xml grxml
        application/sru+xml sru
        application/ssml+xml ssml
        application/stix+json stix
        application/tei+xml tei teicorpus
        application/thraud+xml tfi
        application/timestamped-data tsd
        application/toml toml
        application/trig trig
        application/ttml+xml ttml
        application/vnd.3gpp.pic-bw-large plb
        application/vnd.adobe.air-application-installer-package+zip air
        application/vnd.adobe.xdp+xml xdp
        application/vnd.adobe.xfdf xfdf
        application/vnd.amazon.ebook azw
        application/vnd.amazon.mobi8-ebook azw3
        application/vnd.android.package-archive apk
        application/vnd.apache.arrow.file arrow
        application/vnd.apache.arrow.stream arrows
        application/vnd.apache.parquet parquet
        application/vnd.apple.installer+xml mpkg
        application/vnd.apple.keynote key
        application/vnd.apple.mpegurl m3u8
        application/vnd.apple.numbers numbers
        application/vnd.apple.pages pages
        application/vnd.apple.pkpass pkpass
        application/vnd.bmi bmi
        application/vnd.chemdraw+xml cdxml
        application/vnd.cups-ppd ppd
        application/vnd.curl.car car
        application/vnd.dart dart
        application/vnd.debian.binary-package deb udeb
        application/vnd.dece.data uvf
        application/vnd.dvb.ait ait
        application/vnd.ecowin.chart mag
        application/vnd.etsi.asic-e+zip asice
        application/vnd.etsi.asic-s+zip asics
        application/vnd.fdf fdf
        application/vnd.flatpak flatpak
        application/vnd.framemaker fm frame maker book
        application/vnd.garmin.tcx+xml tcx
        application/vnd.geogebra.file ggb
        application/vnd.gerber gbr
        application/vnd.google-earth.kml+xml kml
        application/vnd.google-earth.kmz kmz
        application/vnd.hal+xml hal
        application/vnd.hp-hpgl hpgl
        application/vnd.hp-pcl pcl
        application/vnd.iccprofile icc icm
        application/vnd.intergeo i2g
        application/vnd.kde.karbon karbon
        application/vnd.kde.kspread ksp
        application/vnd.kde.kword kwd kwt
        application/vnd.lotus-1-2-3 123
        application/vnd.lotus-wordpro lwp
        application/vnd.macports.portpkg portpkg
        application/vnd.mapbox-vector-tile mvt
        application/vnd.mif mif
        application/vnd.mozilla.xul+xml xul
        application/vnd.ms-artgalry cil
        application/vnd.ms-cab-compressed cab
        application/vnd.ms-excel xls xlt xla xlw xlm xlc
        application/vnd.ms-excel.addin.macroenabled.12 xlam
        application/vnd.ms-excel.sheet.binary.macroenabled.12 xlsb
        application/vnd.ms-excel.sheet.macroenabled.12 xlsm
        application/vnd.ms-excel.template.macroenabled.12 xltm
        application/vnd.ms-fontobject eot
        application/vnd.ms-htmlhelp chm
        application/vnd.ms-outlook msg
        application/vnd.ms-pki.seccat cat
        application/vnd.ms-powerpoint ppt pps pot
        application/vnd.ms-powerpoint.addin.macroenabled.12 ppam
        application/vnd.ms-powerpoint.presentation.macroenabled.12 pptm
        application/vnd.ms-powerpoint.slideshow.macroenabled.12 ppsm
        application/vnd.ms-powerpoint.template.macroenabled.12 potm
        application/vnd.ms-project mpp mpt
        application/vnd.ms-word.document.macroenabled.12 docm
        application/vnd.ms-word.template.macroenabled.12 dotm
        application/vnd.ms-works wps wks wcm wdb
        application/vnd.ms-wpl wpl
        application/vnd.ms-xpsdocument xps
        application/vnd.oasis.opendocument.chart odc
        application/vnd.oasis.opendocument.database odb
        application/vnd.oasis.opendocument.formula odf
        application/vnd.oasis.opendocument.graphics odg
        application/vnd.oasis.opendocument.graphics-template otg
        application/vnd.oasis.opendocument.image odi
        application/vnd.oasis.opendocument.presentation odp
        application/vnd.oasis.opendocument.presentation-template otp
        application/vnd.oasis.opendocument.spreadsheet ods
        application/vnd.oasis.opendocument.spreadsheet-template ots
        application/vnd.oasis.opendocument.text odt
        application/vnd.oasis.opendocument.text-master odm
        application/vnd.oasis.opendocument.text-template ott
        application/vnd.oasis.opendocument.text-web oth
        application/vnd.oma.dd2+xml dd2
        application/vnd.openofficeorg.extension oxt
        application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
        application/vnd.openxmlformats-officedocument.presentationml.slide sldx
        application/vnd.openxmlformats-officedocument.presentationml.slideshow ppsx
        application/vnd.openxmlformats-officedocument.presentationml.template potx
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
        application/vnd.openxmlformats-officedocument.spreadsheetml.template xltx
        application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
        application/vnd.openxmlformats-officedocument.wordprocessingml.template dotx
        application/vnd.palm pdb pqa oprc
        application/vnd.quark.quarkxpress qxd qxt qwd qwt
        application/vnd.rar rar
        application/vnd.rn-realmedia rm
        application/vnd.sailingtracker.track st
        application/vnd.smaf mmf
        application/vnd.snap snap
        application/vnd.sqlite3 sqlite sqlite3
        application/vnd.stardivision.calc sdc
        application/vnd.stardivision.draw sda
        application/vnd.stardivision.impress sdd
        application/vnd.stardivision.writer sdw vor
        application/vnd.sun.xml.calc sxc
        application/vnd.sun.xml.draw sxd
        application/vnd.sun.xml.impress sxi
        application/vnd.sun.xml.math sxm
        application/vnd.sun.xml.writer sxw
        application/vnd.symbian.install sis sisx
        application/vnd.tcpdump.pcap pcap cap dmp
        application/vnd.tmobile-livetv tmo
        application/vnd.visio vsd vst vss vsw
        application/vnd.wap.wbxml wbxml
        application/vnd.wap.wmlc wmlc
        application/vnd.wordperfect wpd
        application/voicexml+xml vxml
        application/wasm wasm
        application/widget wgt
        application/winhlp hlp
        application/wsdl+xml wsdl
        application/wspolicy+xml wspolicy
        application/x-7z-compressed 7z
        application/x-abiword abw
        application/x-ace-compressed ace
        application/x-apple-diskimage dmg
        application/x-authorware-bin aab x32 u32 vox
        application/x-bcpio bcpio
        application/x-bittorrent torrent
        application/x-blorb blb blorb
        application/x-bzip bz
        application/x-bzip2 bz2 boz
        application/x-cbr cbr cba cbt cb7
        application/x-cbz cbz
        application/x-cdlink vcd
        application/x-chess-pgn pgn
        application/x-chrome-extension crx
        application/x-cpio cpio
        application/x-csh csh
        application/x-director dir dcr dxr cst cct cxt w3d fgd swa
        application/x-doom wad
        application/x-dvi dvi
        application/x-font-bdf bdf
        application/x-font-pcf pcf
        application/x-font-type1 pfa pfb pfm afm
        application/x-freearc arc
        application/x-futuresplash spl
        application/x-glulx ulx
        application/x-gnumeric gnumeric
        application/x-gtar gtar
        application/x-hdf hdf h4 hdf4
        application/x-hdf5 h5 hdf5 he5
        application/x-httpd-php php
        application/x-ica ica
        application/x-iso9660-image iso
        application/x-java-jnlp-file jnlp
        application/x-latex latex
        application/x-lzh-compressed lzh lha
        application/x-lzip lz
        application/x-lzma lzma
        application/x-mobipocket-ebook prc mobi
        application/x-ms-application application
        application/x-ms-shortcut lnk
        application/x-ms-wmd wmd
        application/x-msaccess mdb accdb
        application/x-msbinder obd
        application/x-msdownload exe dll com bat msi
        application/x-msmetafile wmf emf emz
        application/x-mspublisher pub
        application/x-netcdf nc cdf
        application/x-ns-proxy-autoconfig pac
        application/x-object o
        application/x-perl pl pm
        application/x-pkcs12 p12 pfx
        application/x-pkcs7-certificates p7b spc
        application/x-plist plist
        application/x-python-code pyc pyo
        application/x-redhat-package-manager rpm
        application/x-research-info-systems ris
        application/x-sh sh
        application/x-shar shar
        application/x-shockwave-flash swf
        application/x-silverlight-app xap
        application/x-stuffit sit
        application/x-stuffitx sitx
        application/x-subrip srt
        application/x-sv4cpio sv4cpio
        application/x-sv4crc sv4crc
        application/x-tar tar
        application/x-tcl tcl tk
        application/x-tex tex
        application/x-texinfo texinfo texi
        application/x-ustar ustar
        application/x-virtualbox-vdi vdi
        application/x-virtualbox-vhd vhd
        application/x-virtualbox-vmdk vmdk
        application/x-wais-source src
        application/x-x509-ca-cert der crt pem
        application/x-xcf xcf
        application/x-xfig fig
        application/x-xpinstall xpi
        application/x-xz xz
        application/x-zmachine z1 z2 z3 z4 z5 z6 z7 z8
        application/xaml+xml xaml
        application/xcap-diff+xml xdf
        application/xenc+xml xenc
        application/xhtml+xml xhtml xht
        application/xliff+xml xlf xliff
        application/xml xml xsl xsd rng
        application/xml-dtd dtd
        application/xop+xml xop
        application/xproc+xml xpl
        application/xslt+xml xslt
        application/xspf+xml xspf
        application/xv+xml mxml xhvml xvml xvm
        application/yaml yaml yml
        application/yang yang
        application/yin+xml yin
        application/zip zip
        application/zstd zst
        audio/aac aac adts
        audio/ac3 ac3
        audio/adpcm adp
        audio/aiff aif aiff aifc
        audio/amr amr
        audio/amr-wb awb
        audio/basic au snd
        audio/eac3 ec3
        audio/flac flac
        audio/midi mid midi kar rmi
        audio/mobile-xmf mxmf
        audio/mp4 m4a m4b mp4a
        audio/mpeg mp3 mpga mp2 mp2a m2a m3a
        audio/ogg oga ogg spx opus
        audio/s3m s3m
        audio/silk sil
        audio/vnd.dolby.mlp mlp
        audio/vnd.dts dts
        audio/vnd.dts.hd dtshd
        audio/vnd.wave wav
        audio/webm weba
        audio/x-ape ape
        audio/x-caf caf
        audio/x-matroska mka
        audio/x-mod mod
        audio/x-mpegurl m3u
        audio/x-ms-wax wax
        audio/x-ms-wma wma
        audio/x-pn-realaudio ram ra
        audio/x-wavpack wv
        audio/xm xm
        chemical/x-cdx cdx
        chemical/x-cif cif
        chemical/x-cml cml
        chemical/x-pdb ent
        chemical/x-xyz xyz
        font/collection ttc
        font/otf otf
        font/ttf ttf
        font/woff woff
        font/woff2 woff2
        image/aces exr
        image/apng apng
        image/avif avif
        image/bmp bmp dib
        image/cgm cgm
        image/dicom-rle drle
        image/g3fax g3
        image/gif gif
        image/heic heic
        image/heic-sequence heics
        image/heif heif
        image/heif-sequence heifs
        image/hej2k hej2
        image/ief ief
        image/jls jls
        image/jp2 jp2 jpg2
        image/jpeg jpg jpeg jpe jfif
        image/jph jph
        image/jpm jpm
        image/jpx jpx jpf
        image/jxl jxl
        image/jxr jxr
        image/ktx ktx
        image/ktx2 ktx2
        image/png png
        image/prs.btif btif
        image/qoi qoi
        image/sgi sgi
        image/svg+xml svg svgz
        image/tiff tif tiff
        image/vnd.adobe.photoshop psd
        image/vnd.djvu djvu djv
        image/vnd.dwg dwg
        image/vnd.dxf dxf
        image/vnd.fastbidsheet fbs
        image/vnd.microsoft.icon ico
        image/vnd.ms-dds dds
        image/vnd.ms-modi mdi
        image/vnd.ms-photo wdp hdp
        image/vnd.radiance hdr
        image/vnd.wap.wbmp wbmp
        image/webp webp
        image/x-adobe-dng dng
        image/x-canon-cr2 cr2
        image/x-canon-cr3 cr3
        image/x-cmu-raster ras
        image/x-fuji-raf raf
        image/x-nikon-nef nef
        image/x-olympus-orf orf
        image/x-panasonic-rw2 rw2
        image/x-pcx pcx
        image/x-pict pic pct pict
        image/x-portable-anymap pnm
        image/x-portable-bitmap pbm
        image/x-portable-graymap pgm
        image/x-portable-pixmap ppm
        image/x-rgb rgb
        image/x-sony-arw arw
        image/x-tga tga
        image/x-xbitmap xbm
        image/x-xpixmap xpm
        image/x-xwindowdump xwd
        message/rfc822 eml mime mht mhtml
        model/3mf 3mf
        model/gltf+json gltf
        model/gltf-binary glb
        model/iges igs iges
        model/mesh msh mesh silo
        model/mtl mtl
        model/obj obj
        model/step stp step p21
        model/stl stl
        model/u3d u3d
        model/vnd.collada+xml dae
        model/vnd.dwf dwf
        model/vnd.usdz+zip usdz
        model/vrml wrl vrml
        model/x3d+xml x3d x3dz
        text/cache-manifest appcache manifest
        text/calendar ics ifb
        text/coffeescript coffee litcoffee
        text/css css
        text/csv csv
        text/html html htm
        text/jade jade
        text/javascript js mjs cjs
        text/jsx jsx
        text/less less
        text/markdown md markdown mdown
        text/n3 n3
        text/plain txt text conf def list log in ini diff patch
        text/prs.lines.tag dsc
        text/richtext rtx
        text/sgml sgml sgm
        text/shex shex
        text/stylus stylus styl
        text/tab-separated-values tsv
        text/troff t tr roff man me ms
        text/turtle ttl
        text/uri-list uri uris urls
        text/vcard vcard vcf
        text/vnd.curl curl
        text/vnd.fly fly
        text/vnd.graphviz gv
        text/vnd.in3d.3dml 3dml
        text/vnd.sun.j2me.app-descriptor jad
        text/vnd.wap.wml wml
        text/vnd.wap.wmlscript wmls
        text/vtt vtt
        text/x-asm s asm
        text/x-c c cc cxx cpp h hh hpp dic
        text/x-fortran f for f77 f90
        text/x-go go
        text/x-java-source java
        text/x-kotlin kt kts
        text/x-lua lua
        text/x-nfo nfo
        text/x-opml opml
        text/x-pascal p pas
        text/x-python py
        text/x-ruby rb
        text/x-rust rs
        text/x-sass sass
        text/x-scss scss
        text/x-setext etx
        text/x-swift swift
        text/x-vcalendar vcs
        video/3gpp 3gp 3gpp
        video/3gpp2 3g2
        video/annodex axv
        video/dv dv dif
        video/h261 h261
        video/h263 h263
        video/h264 h264
        video/h265 h265
        video/iso.segment m4s
        video/jpeg jpgv
        video/mj2 mj2 mjp2
        video/mp2t ts m2t m2ts mts
        video/mp4 mp4 mp4v mpg4 m4v
        video/mpeg mpeg mpg mpe m1v m2v
        video/ogg ogv
        video/quicktime mov qt
        video/vnd.dvb.file dvb
        video/vnd.fvt fvt
        video/vnd.mpegurl mxu m4u
        video/vnd.ms-playready.media.pyv pyv
        video/vnd.vivo viv
        video/webm webm
        video/x-f4v f4v
        video/x-fli fli
        video/x-flv flv
        video/x-matroska mkv mk3d mks
        video/x-mng mng
        video/x-ms-asf asf asx
        video/x-ms-vob vob
        video/x-ms-wm wm
        video/x-ms-wmv wmv
        video/x-ms-wmx wmx
        video/x-ms-wvx wvx
        video/x-msvideo avi
        video/x-sgi-movie movie
        x-conference/x-cooltalk ice
        """
}
