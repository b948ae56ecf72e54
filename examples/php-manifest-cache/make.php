<?php
// Makes the sources of an application, 200 templates and 400 classes, and their cache.

require __DIR__ . '/cache.php';

const ROW = "<p>{{ user }} owes {{ total }} for a box with five dozen liquor jugs, packed on a
Sunday afternoon, delivered by a quick brown fox to a lazy dog that did not mind.</p>\n";
const METHOD = "    public function total(): int { return array_sum(\$this->amounts); }\n";

$src = getenv('PLACE') . '/src';
mkdir($src);
mkdir("$src/templates");
for ($number = 0; $number < 200; $number++) {
    $text = "<h2>{{ title }} $number</h2>\n" . str_repeat(ROW, 25);
    file_put_contents("$src/templates/part$number.html", $text);
}
mkdir("$src/classes");
for ($number = 0; $number < 400; $number++) {
    $parent = $number < 20 ? '' : ' extends Class' . intdiv($number, 20);
    $text = "<?php\n\nclass Class$number$parent\n{\n" . str_repeat(METHOD, 40) . "}\n";
    file_put_contents("$src/classes/Class$number.php", $text);
}
(new Cache(getenv('PLACE'), getenv('FORM')))->rebuild();
