// SPDX-License-Identifier: BSD-3-Clause
// The programs of the graphics processor, in GLSL. Points of light are added up in a buffer of half
// floats, as colour times weight, and weight; a second pass (TONE) converts the sum to colours of
// the screen. Fewer particles are drawn as bodies that point along their velocity: opaque triangles
// with a depth test, light from above, and fog. A particle's attributes are those of a message of
// points (web/web.h), of this frame and the one before, between which it is interpolated.
"use strict";

// Polynomials of the colour maps inferno and plasma: Matt Zucker, shadertoy.com/view/WlfXRN, CC0.
const COLOURS = `
uniform float paper;    // 0: on dark ground, 1: on light ground
vec3 power(float t, vec3 a, vec3 b, vec3 c, vec3 d, vec3 e, vec3 f, vec3 g) {
  return clamp(a + t*(b + t*(c + t*(d + t*(e + t*(f + t*g))))), 0.0, 1.0);
}
vec3 inferno(float t) {
  return power(t, vec3(0.000219, 0.001651, -0.019481), vec3(0.106513, 0.563956, 3.932712),
    vec3(11.602493, -3.972854, -15.942394), vec3(-41.703996, 17.436399, 44.354145),
    vec3(77.162936, -33.402359, -81.807309), vec3(-71.319428, 32.626064, 73.209520),
    vec3(25.131126, -12.242669, -23.070325));
}
vec3 plasma(float t) {
  return power(t, vec3(0.058732, 0.023337, 0.543340), vec3(2.176515, 0.238383, 0.753960),
    vec3(-2.689460, -7.455851, 3.110800), vec3(6.130348, 42.346188, -28.518855),
    vec3(-11.107436, -82.666311, 60.139848), vec3(10.023066, 71.413618, -54.072187),
    vec3(-3.658714, -22.931535, 18.191908));
}
// Oklab to sRGB (Ottosson 2020): equal steps look equal.
vec3 oklab(float l, vec2 ab) {
  float a = ab.x, b = ab.y;
  vec3 m = vec3(l + 0.3963378*a + 0.2158038*b, l - 0.1055613*a - 0.0638542*b,
                l - 0.0894842*a - 1.2914855*b);
  m = m * m * m;
  vec3 rgb = vec3(4.0767417*m.x - 3.3077116*m.y + 0.2309699*m.z,
                  -1.2684380*m.x + 2.6097574*m.y - 0.3413194*m.z,
                  -0.0041961*m.x - 0.7034186*m.y + 1.7076147*m.z);
  return pow(clamp(rgb, 0.0, 1.0), vec3(1.0 / 2.2));
}
// A continuous map of all directions: hue round the z axis, lightness along it. It has no branch,
// so that close directions have close colours; headingColour of web/gauge.js is this map, too.
// groupColour there is that of groups and species.
vec3 heading(vec3 d) {
  vec2 ab = 0.15 * vec2(0.825*d.x - 0.565*d.y, 0.565*d.x + 0.825*d.y);
  return oklab(mix(0.74, 0.60, paper) + 0.15 * d.z, ab + vec2(0.0, 0.05 * d.z));
}
vec3 group(float label) {
  float h = 2.399963 * label;
  return label < 0.5 ? mix(vec3(0.30, 0.36, 0.55), vec3(0.62, 0.66, 0.76), paper)
       : oklab(mix(0.76, 0.56, paper) + 0.08 * fract(label * 0.37), 0.15 * vec2(cos(h), sin(h)));
}`;

// What all programs of particles share: attributes, the position between two frames, the colour.
// next, last: fractions of the box (in units of how.x) in the newest frame and the one before.
// colour, direction: as web_points of web/web.h packs them; unfold() unpacks a direction from its
// octahedral map. between() takes the shorter way across periodic faces. Kinds of colour (how.z)
// are those of web_colour: 0 plain, 1 speed, 2 heading, 3 group, 4 mass, 5 species.
const PARTICLE = `
layout(location = 0) in vec3 next;
layout(location = 1) in vec3 last;
layout(location = 2) in float colour;
layout(location = 3) in float direction;
uniform mat4 camera;
uniform vec3 origin, rowA, rowB, rowC, wraps;
uniform vec4 how;       // 1 / steps, time between frames, kind of colour, weight
uniform vec4 size;      // in the world, least, most [pixels], height of the screen
uniform vec2 depth;     // near, far of the box
${COLOURS}
vec3 unfold(float packed) {
  vec2 e = vec2(mod(packed, 256.0), floor(packed / 256.0)) / 127.5 - 1.0;
  vec3 d = vec3(e, 1.0 - abs(e.x) - abs(e.y));
  if (d.z < 0.0) d.xy = (1.0 - abs(d.yx)) * vec2(d.x < 0.0 ? -1.0 : 1.0, d.y < 0.0 ? -1.0 : 1.0);
  return normalize(d);
}
vec3 inBox(vec3 f) { return origin + f.x * rowA + f.y * rowB + f.z * rowC; }
vec3 between() {
  vec3 b = next * how.x, a = last * how.x, way = b - a;
  way -= wraps * round(way);
  vec3 f = a + how.y * way;
  return inBox(f - wraps * floor(f));
}
vec3 tinted() {
  int kind = int(how.z);
  return kind == 1 || kind == 4 ? plasma(mix(0.12, 0.04, paper) + 0.86 * colour / 65535.0)
       : kind == 2 && colour > 0.5 ? heading(unfold(colour))
       : kind == 3 || kind == 5 ? group(colour) : mix(vec3(1.0), vec3(0.35), paper * float(kind == 0));
}
float farness(float w) { return clamp((w - depth.x) / (depth.y - depth.x), 0.0, 1.0); }`;

// Points of light: a square of pixels for each, dimmer with distance, and dimmer where its size on
// the screen is below the least one.
const POINT_VERTEX = `#version 300 es
out vec3 tint;
out float weight;
${PARTICLE}
void main() {
  gl_Position = camera * vec4(between(), 1.0);
  float pixels = size.x * size.w / max(gl_Position.w, 1e-6);
  gl_PointSize = clamp(pixels, size.y, size.z);
  weight = how.w * mix(1.3, 0.3, farness(gl_Position.w)) * min(1.0, pow(pixels / size.y, 1.2));
  tint = tinted();
  if (how.z == 3.0 && colour < 0.5) weight *= 0.35;
}`;

// The profile of a point of light: two Gaussians, less their sum's value at the rim.
const POINT_PIXEL = `#version 300 es
precision mediump float;
in vec3 tint;
in float weight;
out vec4 sum;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  float r = dot(p, p);
  if (r > 1.0) discard;
  float w = weight * (1.25 * exp(-14.0 * r) + 0.30 * exp(-4.0 * r) - 0.0055);
  sum = vec4(tint * w, w);
}`;

// One triangle that covers the screen, without attributes; at: 0 to 1 across the screen.
const SCREEN_VERTEX = `#version 300 es
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0;
  gl_Position = vec4(2.0 * at - 1.0, 0.0, 1.0);
}`;

// Colour of the background.
const BACK = `
vec3 back(vec2 at) {
  float edge = length(at - 0.5) * 1.4;
  return mix(mix(vec3(0.030, 0.034, 0.070), vec3(0.012, 0.012, 0.024), edge),
             mix(vec3(0.985, 0.988, 1.0), vec3(0.90, 0.915, 0.95), edge), paper);
}`;

// From sums of light to colours of the screen. plain: the weight selects a colour of inferno on a
// logarithmic scale, whose end follows the mean weight, the last level of the mipmap. Else the mean
// colour of the points is shown, the brighter the more weight.
const TONE_PIXEL = `#version 300 es
precision highp float;
in vec2 at;
uniform sampler2D sums;
uniform float plain, exposure;
out vec4 colour;
${COLOURS}${BACK}
void main() {
  vec4 s = texture(sums, at);
  float w = s.a * exposure;
  vec3 behind = back(at);
  if (plain > 0.5) {
    float mean = textureLod(sums, vec2(0.5), 20.0).a * exposure;
    float t = log(1.0 + 6.0 * w) / log(1.0 + 6.0 * max(8.0, 150.0 * mean));
    vec3 c = inferno(clamp(mix(0.04 + t, 0.86 - t, paper), 0.0, 1.0));
    vec3 over = c * smoothstep(0.0, 0.06, t) + behind * (1.0 - t);
    colour = vec4(paper > 0.5 ? mix(behind, c, smoothstep(0.0, 0.25, t)) : max(behind, over), 1.0);
    return;
  }
  vec3 hue = s.rgb / max(s.a, 1e-6);
  float light = 1.0 - exp(-1.6 * w);
  float core = (1.0 - paper) * 0.30 * smoothstep(1.0, 2.2, log(1.0 + w));
  vec3 c = hue * light * mix(1.05, 1.0, paper) + core * (0.25 + 0.75 * hue);
  colour = vec4(behind * (1.0 - light) + min(c, vec3(1.0)), 1.0);
}`;

const BACK_PIXEL = `#version 300 es
precision highp float;
in vec2 at;
out vec4 colour;
${COLOURS}${BACK}
void main() { colour = vec4(back(at), 1.0); }`;

// Bodies: one instance of a mesh for each particle, and a disc for one that stands still or is too
// small on the screen for a shape to be seen.
const LIT = `
uniform vec3 eye, fog;
const vec3 LIGHT = vec3(0.36, -0.30, 0.88);
float pixelsOf(vec3 at) { return size.x * size.w / max((camera * vec4(at, 1.0)).w, 1e-6); }
vec4 foggy(vec3 lit, float w) { return vec4(mix(lit, fog, 0.78 * farness(w)), 1.0); }`;

const BODY_VERTEX = `#version 300 es
layout(location = 4) in vec4 corner;    // along, left, up; share of the wing beat
layout(location = 5) in vec3 normal;
uniform float beat;     // phase of the wings
out vec4 tint;
${PARTICLE}${LIT}
void main() {
  vec3 centre = between();
  float pixels = pixelsOf(centre);
  if (direction < 0.5 || pixels < size.y) {
    gl_Position = vec4(0.0, 0.0, 2.0, 1.0);     // outside: a disc is drawn in its place
    return;
  }
  vec3 d = unfold(direction), high = abs(d.z) < 0.99 ? vec3(0.0, 0.0, 1.0) : vec3(0.0, 1.0, 0.0);
  vec3 left = normalize(cross(high, d)), up = cross(d, left);
  float flap = 0.30 * corner.w * sin(beat + 2.4 * float(gl_InstanceID % 97));
  vec3 shape = vec3(corner.xy, corner.z + flap) * size.x * clamp(pixels, size.z, 1e6) / pixels;
  vec3 at = centre + shape.x * d + shape.y * left + shape.z * up;
  vec3 n = normalize(normal.x * d + normal.y * left + normal.z * up);
  n *= dot(n, eye - at) < 0.0 ? -1.0 : 1.0;
  float shade = 0.5 + 0.5 * dot(n, LIGHT);
  gl_Position = camera * vec4(at, 1.0);
  tint = foggy(tinted() * mix(0.46 + 0.72 * shade, 0.58 + 0.50 * shade, paper), gl_Position.w);
}`;

const DISC_VERTEX = `#version 300 es
out vec4 tint;
${PARTICLE}${LIT}
void main() {
  vec3 centre = between();
  float pixels = pixelsOf(centre);
  gl_Position = direction < 0.5 || pixels < size.y ? camera * vec4(centre, 1.0)
                                                   : vec4(0.0, 0.0, 2.0, 1.0);
  gl_PointSize = max(0.6 * pixels, 0.8 * size.y);
  tint = foggy(tinted(), gl_Position.w);
}`;

const DISC_PIXEL = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 colour;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  if (dot(p, p) > 1.0) discard;
  colour = tint;
}`;

// A piece of a trail: from a particle's place in one frame to its place in the next.
const TRAIL_VERTEX = `#version 300 es
uniform vec2 fresh;     // strength of the trail where the piece begins and ends
out vec4 tint;
${PARTICLE}${LIT}
void main() {
  vec3 b = next * how.x, a = last * how.x, way = b - a;
  way -= wraps * round(way);
  bool ends = (gl_VertexID & 1) == 1;
  vec3 b1 = a + way;
  bool leaves = any(lessThan(b1, vec3(0.0))) || any(greaterThan(b1, vec3(1.0)));
  gl_Position = leaves ? vec4(0.0, 0.0, 2.0, 1.0)   // it would go on at the other side of the box
                       : camera * vec4(inBox(a + (ends ? how.y * way : vec3(0.0))), 1.0);
  tint = foggy(tinted(), gl_Position.w);
  float strength = ends ? fresh.y : fresh.x;
  tint.a = 0.42 * strength * strength * mix(1.0, 0.4, farness(gl_Position.w));
}`;

// Multiply the sums of light by `keep`, by blending: trails of points of light.
const FADE_PIXEL = `#version 300 es
precision mediump float;
uniform float keep;
out vec4 sum;
void main() { sum = vec4(0.0, 0.0, 0.0, keep); }`;

// Lines: edges of the box, and circles that face the eye around groups.
const LINE_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 ring;      // centre, radius; radius 0: an edge
layout(location = 2) in vec2 mark;      // label, chosen
uniform mat4 camera;
uniform vec3 right, up;
uniform float least;    // radius of the smallest circle, at distance 1
out vec4 tint;
${COLOURS}
void main() {
  float away = (camera * vec4(ring.xyz, 1.0)).w;
  float radius = max(ring.w, (1.0 + 0.35 * mark.y) * least * away);
  vec3 at = ring.w > 0.0 ? ring.xyz + radius * (place.x * right + place.y * up) : place;
  gl_Position = camera * vec4(at, 1.0);
  tint = ring.w > 0.0 ? vec4(mix(group(mark.x), vec3(1.0 - paper), 0.25 + 0.75 * mark.y),
                             0.6 + 0.4 * mark.y)
                      : vec4(mix(vec3(0.55, 0.62, 0.95), vec3(0.25, 0.30, 0.50), paper), 0.22);
}`;

// Colour with premultiplied alpha; for bodies and trails, too.
const LINE_PIXEL = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 colour;
void main() { colour = vec4(tint.rgb * tint.a, tint.a); }`;
